package urlpath

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// begins matches the start of a URL, also of a mistyped one: a scheme, and one slash or
// more.
var begins = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]+:/+|://`)

// parameter matches a parameter, also outside of a URL.
var parameter = regexp.MustCompile(`[?&]([A-Za-z0-9_-]+)=([^&\s"']+)`)

// Hide replaces secrets in a string with stars: the user information and the queries of
// URLs, and parameters that grant access. The number of stars is that of the
// characters, so positions in the string stay valid. It also treats likely mistyped
// URLs as URLs.
func Hide(text string) string {
	var b strings.Builder
	for {
		at := begins.FindStringIndex(text)
		if at == nil {
			b.WriteString(text)
			return hideParameters(b.String())
		}
		b.WriteString(text[:at[1]])
		text = text[at[1]:]
		end := urlEnd(text)
		end = len(strings.TrimRight(text[:end], ":;,)")) // end of the surrounding sentence
		hide(&b, text[:end])
		text = text[end:]
	}
}

// blanks end a URL, and so do quotes.
const blanks = " \t\r\n\"'"

// urlEnd returns the end of a URL whose text after the scheme is given. In a URL that
// is not escaped, a password may contain a blank or a quote; the URL then continues
// after the user information.
func urlEnd(text string) int {
	end := strings.IndexAny(text, blanks)
	if end < 0 {
		return len(text)
	}
	if strings.Contains(text[:end], "@") || !isUser(text[:end]) {
		return end
	}
	line, _, _ := strings.Cut(text, "\n")
	user, _, found := strings.Cut(line, "@")
	if !found || begins.MatchString(user) {
		return end
	}
	if more := strings.IndexAny(line[len(user):], blanks); more >= 0 {
		return len(user) + more
	}
	return len(line)
}

// isUser reports whether the text after a scheme begins with a user name. It does if a
// colon follows without a port, which no host has. The @ after the password comes
// later.
func isUser(rest string) bool {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if strings.HasPrefix(rest, "[") || strings.Contains(rest, "@") {
		return false
	}
	_, port, ok := strings.Cut(rest, ":")
	return ok && strings.Trim(port, "0123456789") != ""
}

// example is the placeholder for user information in messages.
const example = "USER:PASSWORD@HOST"

// hide writes the part of a URL after the scheme.
func hide(b *strings.Builder, url string) {
	if strings.HasPrefix(url, example) {
		b.WriteString(example)
		url = url[len(example):]
	}
	host := strings.IndexAny(url, "/?#")
	if host < 0 {
		host = len(url)
	}
	user := strings.LastIndexByte(url[:host], '@')
	if last := strings.LastIndexByte(url, '@'); user < 0 && strings.Contains(url[:host], ":") && !strings.HasPrefix(url, "[") {
		user = last // the password has / or ? in it
	}
	if user < 0 && isUser(url) { // the @ is missing
		user = host
	}
	stars(b, url[:max(0, user)])
	url = url[max(0, user):]
	query := strings.IndexAny(url, "?#")
	if query < 0 {
		query = len(url)
	}
	b.WriteString(url[:min(len(url), query+1)])
	stars(b, url[min(len(url), query+1):])
}

func hideParameters(text string) string {
	var b strings.Builder
	from := 0
	for _, m := range parameter.FindAllStringSubmatchIndex(text, -1) {
		if Admits(text[m[2]:m[3]]) {
			b.WriteString(text[from:m[4]])
			stars(&b, text[m[4]:m[5]])
			from = m[5]
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

func stars(b *strings.Builder, text string) {
	b.WriteString(strings.Repeat("*", utf8.RuneCountInString(text)))
}
