// Package urlpath distinguishes URLs from file names and hides their secrets.
package urlpath

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// Is reports whether a path is a URL: a scheme of two letters or more, unlike a Windows
// drive, and "://".
func Is(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	if !ok || len(scheme) < 2 {
		return false
	}
	for _, c := range []byte(strings.ToLower(scheme)) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// Escaped returns a URL with # escaped if it names an object of a store. Such URLs have
// no fragments, and the name before # would be another object.
func Escaped(path string) string {
	if !Is(path) || isWeb(path) {
		return path
	}
	return strings.ReplaceAll(path, "#", "%23")
}

// isWeb reports whether a URL has a fragment, which no server receives.
func isWeb(path string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(path), "://")
	return scheme == "http" || scheme == "https"
}

// Name returns a URL without user information, query and fragment, all of which may
// grant access. It returns other paths unchanged.
func Name(path string) string {
	if !Is(path) {
		return path
	}
	scheme, rest, _ := strings.Cut(path, "://")
	if end := strings.LastIndexByte(rest, '@'); end >= 0 && isUser(rest) {
		rest = rest[end:] // the password has a / or ? in it, and the URL cannot be parsed
	}
	ends := "?"
	if isWeb(path) {
		ends = "?#"
	}
	if i := strings.IndexAny(rest, ends); i >= 0 {
		rest = rest[:i]
	}
	host, file, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme) + "://" + withoutPassword(host[strings.LastIndexByte(host, '@')+1:]) + "/" + file
}

// withoutPassword returns a host without a port that is not a number: it is the
// password of a user whose host was omitted.
func withoutPassword(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.Contains(host[i:], "]") || strings.Trim(host[i+1:], "0123456789") == "" {
		return host
	}
	return host[:i]
}

// Query returns a digest of the parameters of a URL that identify the file, or "" if
// there are none. A digest exposes no parameter that is secret after all. It omits
// parameters that only grant access, because they change from day to day.
func Query(u *url.URL) string {
	q := u.Query()
	for name := range q {
		if Admits(name) {
			q.Del(name)
		}
	}
	if len(q) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(q.Encode()))
	return hex.EncodeToString(sum[:])
}

// admitting are parameters of signed URLs: of CloudFront and old S3, of Azure, and
// common names in other services.
var admitting = []string{
	"awsaccesskeyid", "signature", "expires", "policy", "key-pair-id", "googleaccessid",
	"sig", "se", "st", "sp", "sv", "sr", "spr", "sip", "srt", "ss", "ske", "skt", "sks", "skv", "skoid", "sktid",
	"auth", "authorization", "apikey", "api_key", "api-key", "password", "passwd", "pwd",
}

// Admits reports whether a parameter grants access instead of identifying the file.
func Admits(name string) bool {
	name = strings.ToLower(name)
	if slices.Contains(admitting, name) || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") {
		return true
	}
	for _, part := range []string{"token", "secret", "signature", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
