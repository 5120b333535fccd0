package objectstore_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestSecretsStayAtHome checks that credentials are sent only to the host of the URL, and are in no error, name or key.
func TestSecretsStayAtHome(t *testing.T) {
	objectstore.Hurry(t, time.Second)
	there, here := objectstoretest.Serve(t), objectstoretest.Serve(t)
	moved := there.Put("a", []byte("content"))
	url := strings.Replace(here.Put("a", []byte("content")), "://", "://me:hunter2@", 1) + "?token=hunter2&id=hunter2"
	f := open(t, url)
	auth := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:hunter2"))
	if r := here.Requests(); len(r) != 1 || r[0].Header.Get("Authorization") != auth {
		t.Errorf("%v: not let in", r)
	}
	sum, err := key.Of(f.Identity())
	if err != nil || sum.IsZero() || strings.Contains(strings.Join([]string{f.Name(), f.Identity().Name, f.Identity().Query, f.Tag}, " "), "hunter2") {
		t.Errorf("%s, %+v, %v", f.Name(), f.Identity(), err)
	}
	here.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Redirect: moved} })
	if b, err := read(t, f, 0, 7); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	for _, r := range there.Requests() {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "hunter2") || name == "Authorization" {
				t.Errorf("%s was sent to another host", name)
			}
		}
	}
	for _, fault := range []objectstoretest.Fault{
		{Status: 401}, {Status: 403}, {Status: 404}, {Status: 500}, {Status: 418}, {Redirect: here.URL + "/a?token=hunter2"},
		{Redirect: "http://127.0.0.1:1/?token=hunter2"}, {Redirect: "gopher://host/?hunter2"}, {Range: "bytes hunter"}, {Cut: 1},
	} {
		here.Fail(func(int, *http.Request) objectstoretest.Fault { return fault })
		_, oerr := objectstore.Open(t.Context(), url)
		_, rerr := read(t, f, 0, 7)
		if oerr == nil && fault.Cut == 0 || rerr == nil {
			t.Errorf("%+v: no error", fault)
		}
		for _, err := range []error{oerr, rerr} {
			if err != nil && (strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), here.URL+"/a: ")) {
				t.Errorf("%+v: %v", fault, err)
			}
		}
	}
	for _, bad := range []string{
		"https://me:hunter2@/a", "https://me:hun%zzter2@host/a", "https://host/a?%zz=hunter2", "https://me:hunter2@host:port/a", "gs://me:hunter2@host/a?hunter2",
		"https://me:hunter2@host\x00/a", "https://me:hunter2@127.0.0.1:1/a?hunter2", "http://me:hunter2@[::1/a", "https://me:hunter2/a", "https://me:hunter2?a",
	} {
		if _, err := objectstore.Open(t.Context(), bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestUnknownSchemes checks that the error for an unsupported service names what to use instead.
func TestUnknownSchemes(t *testing.T) {
	for url, want := range map[string]string{
		"gs://bucket/a": "larder-cloud", "az://container/a": "objectstore/cloud/az", "htp://host/a": "http", "gopher://host/a": "what is read is",
	} {
		if err := objectstore.Check(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestRedirects checks that a server may redirect, but not in circles.
func TestRedirects(t *testing.T) {
	objectstore.Hurry(t, time.Second)
	s := objectstoretest.Serve(t)
	url := s.Put("a", []byte("content"))
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Redirect: "/a"} })
	if _, err := objectstore.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), "sends on more than") || len(s.Requests()) > 7 {
		t.Errorf("%v", err)
	}
}
