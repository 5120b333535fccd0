// Package http reads files over http and https, in byte ranges (RFC 9110). A program that
// imports it accepts such URLs in place of paths: see package objectstore.
//
// It sends user information in a URL as HTTP basic authentication, to the URL's own host
// only. It uses the proxy of the environment.
package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/larder-data/larder/objectstore"
)

func init() {
	d := &driver{client: newClient()}
	objectstore.Register("http", d)
	objectstore.Register("https", d)
}

// A driver implements [objectstore.Driver].
type driver struct{ client *http.Client }

// List is not possible over http.
func (*driver) List(context.Context, *url.URL) iter.Seq2[*url.URL, error] {
	return func(yield func(*url.URL, error) bool) {
		yield(nil, errors.New("a directory cannot be listed over http; name the files by a pattern, such as train-{000..099}.tar"))
	}
}

// Stat requests the first byte, because some URLs are signed for GET only, and because the
// answer shows whether the server supports ranges.
func (d *driver) Stat(ctx context.Context, u *url.URL) (v objectstore.Version, err error) {
	resp, err := d.get(ctx, u, 0, 1, "")
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	defer drain(resp.Body)
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if _, v.Size, err = contentRange(resp, 0, 1); err != nil {
			return v, err
		}
		if v.Size < 0 {
			return v, errSize
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if !isEmpty(resp.Header.Get("Content-Range")) {
			return v, failed(resp)
		}
	case http.StatusOK:
		v.Whole = true
		if v.Size = resp.ContentLength; v.Size < 0 {
			if v.Size, err = counted(resp.Body); err != nil {
				return v, err
			}
		}
		if v.Size > maxWhole {
			return v, tooLarge(v.Size)
		}
	default:
		return v, failed(resp)
	}
	if v.Tag, v.Firm = tagOf(resp.Header); v.Tag == "" {
		return v, errors.New("the server sends no strong ETag or Last-Modified, so changes cannot be detected; let it send one, or copy the file to this machine")
	}
	return v, nil
}

var errSize = errors.New("the server does not send the size of the file; let it send Content-Length, or copy the file to this machine")

// maxCounted bounds files that are read to find their size.
const maxCounted = 16 << 20

// counted returns the size of a file that is sent whole without a length.
func counted(body io.Reader) (int64, error) {
	n, err := io.Copy(io.Discard, io.LimitReader(body, maxCounted+1))
	if err != nil {
		return 0, &objectstore.RetryableError{Err: fmt.Errorf("the connection was interrupted: %w", err)}
	}
	if n > maxCounted {
		return 0, fmt.Errorf("%w (it sends it as a whole, and more than the %d bytes that are counted)", errSize, maxCounted)
	}
	return n, nil
}

// isEmpty reports whether a server declares a file empty.
func isEmpty(text string) bool {
	unit, text, _ := strings.Cut(strings.TrimSpace(text), " ")
	return strings.EqualFold(unit, "bytes") && strings.TrimSpace(text) == "*/0"
}

// maxWhole bounds files of servers without ranges: each read of a part also reads all
// bytes before it.
const maxWhole = 64 << 20

func tooLarge(size int64) error {
	return fmt.Errorf("the server reads no parts of files (it does not know Range), and this one has %d bytes, more than the %d that are read as a whole; use a server that does, or copy the file to this machine", size, maxWhole)
}

// Read requests a range of the file.
func (d *driver) Read(ctx context.Context, u *url.URL, v objectstore.Version, at, n int64) (objectstore.Body, error) {
	resp, err := d.get(ctx, u, at, n, v.Tag)
	if err != nil {
		return nil, err
	}
	part, err := partOf(resp, v, at, n)
	if err != nil {
		drain(resp.Body)
		_ = resp.Body.Close()
		return nil, err
	}
	return &body{part, resp.Body}, nil
}

// partOf checks an answer against the request, and returns the bytes.
func partOf(resp *http.Response, v objectstore.Version, at, n int64) (io.Reader, error) {
	switch resp.StatusCode {
	case http.StatusPreconditionFailed, http.StatusNotFound, http.StatusGone:
		return nil, objectstore.ErrChanged
	case http.StatusPartialContent, http.StatusOK:
	case http.StatusRequestedRangeNotSatisfiable: // the file has become shorter
		return nil, objectstore.ErrChanged
	default:
		return nil, failed(resp)
	}
	if tag, _ := tagOf(resp.Header); tag != v.Tag {
		return nil, objectstore.ErrChanged
	}
	if resp.StatusCode == http.StatusOK {
		return fromWhole(resp, v, at, n)
	}
	length, size, err := contentRange(resp, at, n)
	switch {
	case err != nil:
		return nil, err
	case size >= 0 && size != v.Size:
		return nil, objectstore.ErrChanged
	}
	return io.LimitReader(resp.Body, length), nil
}

// fromWhole skips to an offset in a file that is sent whole.
func fromWhole(resp *http.Response, v objectstore.Version, at, n int64) (io.Reader, error) {
	if resp.ContentLength >= 0 && resp.ContentLength != v.Size {
		return nil, objectstore.ErrChanged
	}
	if v.Size > maxWhole {
		return nil, tooLarge(v.Size)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, at); err != nil {
		return nil, &objectstore.RetryableError{Err: fmt.Errorf("the connection was interrupted: %w", err)}
	}
	return io.LimitReader(resp.Body, n), nil
}

// body is a part of an answer.
type body struct {
	io.Reader
	of io.ReadCloser
}

func (b *body) Close() error { return b.of.Close() }

// drain reads a short rest, so that the connection can be reused.
func drain(b io.Reader) { _, _ = io.CopyN(io.Discard, b, 4<<10) }
