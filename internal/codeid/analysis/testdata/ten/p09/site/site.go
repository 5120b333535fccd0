// Package site puts pages together.
package site

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"programs/p09/md"
)

// A Page is a document with a front matter.
type Page struct {
	Title string
	Tags  []string
	Body  string
}

var frontRE = regexp.MustCompile(`(?s)^---\n(.*?)\n---\n(.*)$`)

// ParsePage reads a page.
func ParsePage(s string) (Page, error) {
	m := frontRE.FindStringSubmatch(s)
	if m == nil {
		return Page{Body: s}, nil
	}
	p := Page{Body: m[2]}
	for l := range strings.Lines(m[1]) {
		k, v, ok := strings.Cut(strings.TrimSpace(l), ":")
		if !ok {
			return p, fmt.Errorf("front matter: %q", l)
		}
		set, ok := fields[k]
		if !ok {
			return p, fmt.Errorf("front matter: no field %q", k)
		}
		set(&p, strings.TrimSpace(v))
	}
	return p, nil
}

var fields = map[string]func(*Page, string){
	"title": func(p *Page, v string) { p.Title = v },
	"tags": func(p *Page, v string) {
		for t := range strings.SplitSeq(v, ",") {
			p.Tags = append(p.Tags, strings.TrimSpace(t))
		}
	},
}

var keywords = map[string]*regexp.Regexp{
	"go": regexp.MustCompile(`\b(func|return|if|for|range|var|type)\b`),
	"py": regexp.MustCompile(`\b(def|return|if|for|in|class)\b`),
}

// Highlight marks keywords.
func Highlight(lang, code string) string {
	code = template.HTMLEscapeString(code)
	if re, ok := keywords[lang]; ok {
		code = re.ReplaceAllString(code, "<b>$1</b>")
	}
	return code
}

const pageText = `<!DOCTYPE html>
<title>{{.Page.Title}}</title>
{{range .Page.Tags}}<i>{{.}}</i>{{end}}
{{.Content}}`

var page = template.Must(template.New("page").Parse(pageText))

// Render renders a page with its frame.
func Render(p Page) (string, error) {
	r := md.NewRenderer(md.Smart, md.WithHighlighter(Highlight))
	var b strings.Builder
	err := page.Execute(&b, struct {
		Page    Page
		Content template.HTML
	}{p, template.HTML(r.Render(md.Parse(p.Body)))})
	return b.String(), err
}

// A TOC is the headings of a document.
type TOC []Entry

// An Entry is a heading.
type Entry struct {
	Level    int
	Text, ID string
}

// Contents finds the headings.
func Contents(s string) TOC {
	var t TOC
	for _, b := range md.Parse(s) {
		if h, ok := b.(md.Heading); ok {
			t = append(t, Entry{h.Level, h.Text, md.Slug(h.Text)})
		}
	}
	return t
}

// String implements fmt.Stringer.
func (t TOC) String() string {
	var b strings.Builder
	for _, e := range t {
		fmt.Fprintf(&b, "%s- [%s](#%s)\n", strings.Repeat("  ", e.Level-1), e.Text, e.ID)
	}
	return b.String()
}
