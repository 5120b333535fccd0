// Package urlpath tells URLs from names of files, and what of a URL may be shown.
package urlpath

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// Is reports whether a path is a URL: a scheme of two letters or more, which a drive of
// Windows has not, and "://".
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

// Escaped returns a URL in which # stands for itself if it names an object of a store: it has no
// fragments, and an object of the name before # would be another one.
func Escaped(path string) string {
	if !Is(path) || isWeb(path) {
		return path
	}
	return strings.ReplaceAll(path, "#", "%23")
}

// isWeb reports whether a URL has a fragment, which no server sees.
func isWeb(path string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(path), "://")
	return scheme == "http" || scheme == "https"
}

// Name returns a URL as it may be shown: without user information, query and fragment, of
// which any may let others in. Other paths are returned as they are.
func Name(path string) string {
	if !Is(path) {
		return path
	}
	scheme, rest, _ := strings.Cut(path, "://")
	if end := strings.LastIndexByte(rest, '@'); end >= 0 && isUser(rest) {
		rest = rest[end:] // the password has a / or ? in it, and nobody can read the URL
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

// withoutPassword returns a host without what stands where its port should, and is no number: the
// password of a user whose host was left out.
func withoutPassword(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.Contains(host[i:], "]") || strings.Trim(host[i+1:], "0123456789") == "" {
		return host
	}
	return host[:i]
}

// Query returns what stands for the parameters of a URL that say which file it is, "" if
// there are none: a digest, so that one that is a secret all the same is not written
// anywhere. Those that only let somebody in are left out, as they change from day to day.
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

// admitting are parameters of signed URLs: CloudFront and old S3, Azure, and what services
// of their own call theirs.
var admitting = []string{
	"awsaccesskeyid", "signature", "expires", "policy", "key-pair-id", "googleaccessid",
	"sig", "se", "st", "sp", "sv", "sr", "spr", "sip", "srt", "ss", "ske", "skt", "sks", "skv", "skoid", "sktid",
	"auth", "authorization", "apikey", "api_key", "api-key", "password", "passwd", "pwd",
}

// Admits reports whether a parameter lets somebody in, rather than saying which file.
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
