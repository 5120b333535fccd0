package http

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder/objectstore"
)

// maxRedirects bounds the number of redirects.
const maxRedirects = 5

func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // ranges refer to the stored bytes
	t.MaxIdleConnsPerHost = 64
	return &http.Client{Transport: t, CheckRedirect: redirect}
}

// errRedirect is wrapped by errors about redirects.
var errRedirect = errors.New("the server sends on")

// redirect removes credentials from redirects to another host.
func redirect(to *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects {
		return fmt.Errorf("%w more than %d times", errRedirect, maxRedirects)
	}
	if first.Scheme == "https" && to.URL.Scheme != "https" {
		return fmt.Errorf("%w from https to %s, where others can read along", errRedirect, to.URL.Scheme)
	}
	to.Header.Del("Referer") // contains the query of the URL
	if to.URL.Host != first.Host {
		to.Header.Del("Authorization")
	}
	return nil
}

// get requests n bytes at the offset at, of the version with a tag, or of any.
func (d *driver) get(ctx context.Context, u *url.URL, at, n int64, tag string) (*http.Response, error) {
	bare := *u
	bare.User, bare.Fragment = nil, ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil)
	if err != nil {
		return nil, plain(err)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", at, at+n-1))
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "larder")
	if etag, ok := strings.CutPrefix(tag, etagTag); ok {
		req.Header.Set("If-Match", etag)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("the server hands the file out encoded (%s), of which no part can be read; have it leave that", e)
	}
	return resp, nil
}

// plain returns an error without the URL, which may contain credentials. It marks errors
// that a retry may fix.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if strings.HasPrefix(err.Error(), "failed to parse Location header") { // the message quotes it
		return fmt.Errorf("%w to what is not a URL", errRedirect)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, errRedirect) ||
		errors.Is(err, context.Canceled) {
		return err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return err
	}
	if _, ok := errors.AsType[net.Error](err); ok || isBroken(err) {
		return &objectstore.RetryableError{Err: err}
	}
	return err
}

// isBroken reports whether the other side closed the connection, or sent something that is
// not an answer.
func isBroken(err error) bool {
	text := err.Error() // the library has no error values for these
	for _, part := range []string{"EOF", "connection reset", "server closed", "GOAWAY", "broken pipe", "stream error", "http2:", "malformed HTTP"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// failed returns the error of an unexpected status.
func failed(resp *http.Response) error {
	code := resp.StatusCode
	err := fmt.Errorf("the server returned %d %s", code, strings.ToLower(http.StatusText(code)))
	switch code {
	case http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("there is no such file: %w", statusError{err})
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w; give a user and a password in the URL (https://USER:PASSWORD@HOST/...), or a URL that is signed and not expired", err)
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &objectstore.RetryableError{Err: err, After: retryAfter(resp.Header.Get("Retry-After")),
			Busy: code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable}
	}
	return err
}

// retryAfter parses how long a server asks to wait, in seconds or until a time.
func retryAfter(text string) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}
