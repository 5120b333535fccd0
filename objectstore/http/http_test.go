package http_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	driver "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestConform checks that the driver does what package objectstore expects.
func TestConform(t *testing.T) {
	s := objectstoretest.Serve(t)
	objectstoretest.Conform(t, objectstoretest.Service{Server: s, Secret: "hunter2", Store: func(_ *testing.T, name string, content []byte) string {
		s.Put(name, content)
		return s.URL + (&url.URL{Path: "/" + name}).EscapedPath()
	}})
}

// TestOutOfHTTPS checks that a redirect from HTTPS to HTTP is refused.
func TestOutOfHTTPS(t *testing.T) {
	s := objectstoretest.Serve(t)
	safe := httptest.NewTLSServer(http.RedirectHandler(s.Put("a", []byte("content")), http.StatusFound))
	defer safe.Close()
	u, err := url.Parse(safe.URL + "/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Trusting(safe.Client()).Stat(t.Context(), u); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("%v", err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent on", n)
	}
}

// FuzzContentRange checks that what is read from any string matches what would be written.
func FuzzContentRange(f *testing.F) {
	for _, text := range []string{"bytes 0-99/1000", "bytes */0", "bytes 0-0/*", "bytes 9223372036854775807-1/9223372036854775808", "bytes -1-2/3", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, last, size, ok := driver.ParseRange(text)
		if !ok {
			return
		}
		if first < 0 || last < 0 || size < -1 {
			t.Errorf("%q: %d, %d, %d", text, first, last, size)
		}
		all := fmt.Sprint(size)
		if size < 0 { // which is unknown
			all = "*"
		}
		again, lastAgain, sizeAgain, ok := driver.ParseRange(fmt.Sprintf("bytes %d-%d/%s", first, last, all))
		if !ok || again != first || lastAgain != last || sizeAgain != size {
			t.Errorf("%q: %d, %d, %d, %v", text, again, lastAgain, sizeAgain, ok)
		}
	})
}
