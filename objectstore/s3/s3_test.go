package s3_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	_ "github.com/larder-data/larder/objectstore/s3"
)

func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(b)
	return b
}

func read(t *testing.T, f *objectstore.File, at, n int64) ([]byte, error) {
	t.Helper()
	r, err := f.Reader(t.Context(), at, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// service redirects s3:// to a server that ignores signatures.
func service(t *testing.T) *objectstoretest.Server {
	s := objectstoretest.Serve(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", s.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "name")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	return s
}

// TestFaults checks that a single failure is tried again, and that all data is of one version.
func TestFaults(t *testing.T) {
	s := service(t)
	want := content(200_000)
	s.Put("bucket/dir/a", want)
	f, err := objectstore.Open(t.Context(), "s3://bucket/dir/a")
	if err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]objectstoretest.Fault{
		"none": {}, "status 503": {Status: 503, After: "1"}, "cut": {Cut: 70_000}, "another range": {Range: "bytes 0-10/200000"},
	} {
		s.Requests()
		s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
			if n == 0 {
				return fault
			}
			return objectstoretest.Fault{}
		})
		var traffic objectstore.Traffic
		r, err := f.Reader(objectstore.Count(t.Context(), &traffic), 1000, 150_000)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want[1000:151_000]) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if n := len(s.Requests()); int64(n) != traffic.Requests.Load() || n != 1 && name == "none" || n != 2 && name != "none" {
			t.Errorf("%s: %d requests, %d counted", name, n, traffic.Requests.Load())
		}
	}
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Tag: `"another"`} })
	if _, err := read(t, f, 0, 10); !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("%v", err)
	}
	for _, status := range []int{412, 404} {
		s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Status: status} })
		if _, err := read(t, f, 0, 10); !errors.Is(err, objectstore.ErrChanged) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestConform checks that the driver does what package objectstore expects.
func TestConform(t *testing.T) {
	s := service(t)
	objectstoretest.Conform(t, objectstoretest.Service{Server: s, Secret: "hunter2", Store: func(_ *testing.T, name string, content []byte) string {
		s.Put("bucket/dir/"+name, content)
		return "s3://bucket" + (&url.URL{Path: "/dir/" + name}).EscapedPath()
	}})
}

// TestConformPut does the same for writes.
func TestConformPut(t *testing.T) {
	s, o := objectstoretest.S3(t)
	objectstoretest.ConformPut(t, objectstoretest.Service{
		Server: s, Secret: "hunter2", Unfinished: func(*testing.T) int { return o.Unfinished() },
		Store: func(_ *testing.T, name string, content []byte) string {
			o.Put("bucket/dir/"+name, content)
			return "s3://bucket" + (&url.URL{Path: "/dir/" + name}).EscapedPath()
		},
	})
}

// TestRefused checks that unreadable objects are reported, without secrets.
func TestRefused(t *testing.T) {
	s := service(t)
	s.Put("bucket/a", []byte("content"))
	for url, want := range map[string]string{
		"s3://bucket/none":                      "no such object",
		"s3://me:hunter2@bucket/a":              "AWS_ACCESS_KEY_ID",
		"s3://bucket/a?X-Amz-Signature=hunter2": "no parameters but versionId",
		"s3:///a":                               "names no host",
	} {
		if _, err := objectstore.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := objectstore.Open(t.Context(), "s3://bucket/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Status: 403} })
	if _, err := objectstore.Open(t.Context(), "s3://bucket/a"); err == nil || !strings.Contains(err.Error(), "AWS_PROFILE") || len(s.Requests()) > 6 {
		t.Errorf("%v", err)
	}
	for _, endpoint := range []string{"minio:9000", "https://me:hunter2@host", "ftp://host", "https://host/path"} {
		t.Setenv("AWS_ENDPOINT_URL_S3", endpoint)
		if _, err := objectstore.Open(t.Context(), "s3://bucket/a"); err == nil || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// TestNamesOfObjects checks that an object is read by its exact name, and never another in its place.
func TestNamesOfObjects(t *testing.T) {
	s := service(t)
	s.Put("bucket/n/a", []byte("another one"))
	for written, name := range map[string]string{
		"a#b": "a#b", "a%23b": "a#b", "a#": "a#", "a%3Fb": "a?b", "a b": "a b", "a+b": "a+b", "ä": "ä", "a%25b": "a%b", "#": "#", "a#b#c?versionId=": "a#b#c",
	} {
		s.Put("bucket/n/"+name, []byte(name))
		url := "s3://bucket/n/" + written
		f, err := objectstore.Open(t.Context(), url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got, err := read(t, f, 0, f.Size); err != nil || string(got) != name {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	for url, want := range map[string]string{"s3://bucket/n/a?": "%3F", "s3://bucket/n/a?b": "%3F", "s3://bucket/n/a%b": "%25"} {
		if _, err := objectstore.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", url, err, want)
		}
	}
}
