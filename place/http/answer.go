package http

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder/place"
)

// Tags of versions say what they are made of.
const (
	etagTag     = "etag "
	modifiedTag = "modified "
)

// settledAfter is how long after a change another one has another time for certain: servers
// count seconds, and make their ETags of them.
const settledAfter = 2 * time.Second

// clockMargin is how far the clock of this machine may be from that of a server which says no
// time: one whose zone is set wrongly is half a day off.
const clockMargin = 12 * time.Hour

// tagOf returns what tells a version from others: a strong ETag, or else when the file was
// changed; "" if the server says neither. A weak ETag may stay where bytes change.
func tagOf(h http.Header) (tag string, firm bool) {
	modified, merr := http.ParseTime(h.Get("Last-Modified"))
	date, derr := http.ParseTime(h.Get("Date"))
	switch {
	case merr != nil:
		firm = true
	case derr == nil:
		firm = date.Sub(modified) >= settledAfter
	default:
		firm = time.Since(modified) >= clockMargin
	}
	if e := h.Get("Etag"); len(e) >= 2 && e[0] == '"' && e[len(e)-1] == '"' {
		return etagTag + e, firm
	}
	if merr == nil {
		return modifiedTag + modified.UTC().Format(time.RFC3339), firm
	}
	return "", false
}

// contentRange reads which bytes come, which must begin where they were asked for and be no
// more, and how many the file has, -1 if the server does not know.
func contentRange(resp *http.Response, at, n int64) (length, size int64, err error) {
	text := resp.Header.Get("Content-Range")
	first, last, size, ok := parseRange(text)
	switch {
	case text == "":
		return 0, 0, errors.New("the server sends a part of the file (206) and does not say which one (Content-Range); have it say that, or copy the file to this machine")
	case !ok:
		return 0, 0, fmt.Errorf("the server says by %q which bytes come, which is not understood", clipped(text))
	case first != at || last < first || last >= at+n || size >= 0 && last >= size:
		return 0, 0, &place.AgainError{Err: fmt.Errorf("the server sends %q, where bytes %d to %d were asked for", clipped(text), at, at+n-1)}
	case resp.ContentLength >= 0 && resp.ContentLength != last-first+1:
		return 0, 0, &place.AgainError{Err: fmt.Errorf("the server sends %d bytes for %q", resp.ContentLength, clipped(text))}
	}
	return last - first + 1, size, nil
}

// parseRange reads "bytes 0-99/1000". A size that is not known is "*", and -1 here.
func parseRange(text string) (first, last, size int64, ok bool) {
	unit, text, ok := strings.Cut(strings.TrimSpace(text), " ")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return 0, 0, 0, false
	}
	span, all, ok := strings.Cut(text, "/")
	from, to, ranged := strings.Cut(span, "-")
	if !ok || !ranged {
		return 0, 0, 0, false
	}
	for _, number := range []struct {
		text string
		to   *int64
	}{{from, &first}, {to, &last}, {all, &size}} {
		digits := strings.TrimSpace(number.text)
		if number.to == &size && digits == "*" {
			size = -1
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			return 0, 0, 0, false
		}
		*number.to = int64(n)
	}
	return first, last, size, true
}

// clipped shortens what a server says.
func clipped(text string) string { return text[:min(len(text), 80)] }

// statusError is the status of a file that is not there.
type statusError struct{ error }

func (e statusError) Unwrap() error { return fs.ErrNotExist }
