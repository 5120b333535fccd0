package http

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder/objectstore"
)

// Prefixes of tags show what they are computed from.
const (
	etagTag     = "etag "
	modifiedTag = "modified "
)

// settledAfter is the time after a change in which another change may have the same time:
// servers count seconds, and derive ETags from them.
const settledAfter = 2 * time.Second

// clockMargin is how far the clock of this machine may differ from that of a server that
// sends no time: a wrong time zone can be half a day.
const clockMargin = 12 * time.Hour

// tagOf returns a tag of the version: a strong ETag, or else the time of the last change;
// "" if the server sends neither. A weak ETag may stay when bytes change.
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

// contentRange reads the range of an answer, which must begin where requested and be no
// longer, and the size of the file, -1 if the server does not know it.
func contentRange(resp *http.Response, at, n int64) (length, size int64, err error) {
	text := resp.Header.Get("Content-Range")
	first, last, size, ok := parseRange(text)
	switch {
	case text == "":
		return 0, 0, errors.New("the server sends a part of the file (206) without Content-Range; let it send the header, or copy the file to this machine")
	case !ok:
		return 0, 0, fmt.Errorf("the range %q in the answer of the server has an unknown format", clipped(text))
	case first != at || last < first || last >= at+n || size >= 0 && last >= size:
		return 0, 0, &objectstore.RetryableError{Err: fmt.Errorf("the server sends %q, but bytes %d to %d were requested", clipped(text), at, at+n-1)}
	case resp.ContentLength >= 0 && resp.ContentLength != last-first+1:
		return 0, 0, &objectstore.RetryableError{Err: fmt.Errorf("the server sends %d bytes for %q", resp.ContentLength, clipped(text))}
	}
	return last - first + 1, size, nil
}

// parseRange parses "bytes 0-99/1000". An unknown size is "*" there, and -1 here.
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

// clipped shortens a message of a server.
func clipped(text string) string { return text[:min(len(text), 80)] }

// statusError is the status of a missing file.
type statusError struct{ error }

func (e statusError) Unwrap() error { return fs.ErrNotExist }
