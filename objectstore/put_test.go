package objectstore_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	_ "github.com/larder-data/larder/objectstore/s3"
)

// TestPutIsTriedForAWhile checks that a failing upload is tried several times with pauses, and checked for
// once at the end, and that it stores nothing.
func TestPutIsTriedForAWhile(t *testing.T) {
	waits := objectstore.Hurry(t, 50*time.Millisecond)
	s, o := objectstoretest.S3(t)
	for name, fault := range map[string]objectstoretest.Fault{"status": {Status: 503}, "cut": {Take: 10}, "stalled": {Take: 10, Stall: true}} {
		s.Requests()
		s.Fail(func(int, *http.Request) objectstoretest.Fault { return fault })
		var traffic objectstore.Traffic
		err := objectstore.Put(objectstore.Count(t.Context(), &traffic), "s3://bucket/a", objectstoretest.Content(make([]byte, 10<<20)), nil)
		if n, w := traffic.Requests.Load(), waits(); err == nil || !strings.Contains(err.Error(), "tried several times") || n != objectstore.Tries+1 || len(w) != objectstore.Tries-1 {
			t.Errorf("%s: %d requests, %v: %v", name, n, w, err)
		}
	}
	if all := o.Names(); len(all) != 0 {
		t.Errorf("there is %v", all)
	}
}

// TestPutIsFoundAgain checks that a file whose answers were all lost is found by a check.
func TestPutIsFoundAgain(t *testing.T) {
	objectstore.Hurry(t, time.Second)
	s, _ := objectstoretest.S3(t)
	content := objectstoretest.Content([]byte("content"))
	s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
		return objectstoretest.Fault{Lost: r.Method == http.MethodPut}
	})
	if err := objectstore.Put(t.Context(), "s3://bucket/a", content, nil); err != nil {
		t.Errorf("%v", err)
	}
	if v, err := objectstore.Stat(t.Context(), "s3://bucket/a"); err != nil || !v.IsOf(content) {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestCheckPut checks that an invalid upload is refused without a request, and that the error has no secret.
func TestCheckPut(t *testing.T) {
	s, _ := objectstoretest.S3(t)
	for url, want := range map[string]string{
		"s3://bucket/a":                         "",
		"s3://bucket/a%3Fb%23c":                 "",
		"s3://bucket/dir/":                      "names a directory",
		"s3://bucket":                           "names a directory",
		"s3://bucket/a?versionId=hunter2":       "an old version",
		"s3://me:hunter2@bucket/a":              "AWS_ACCESS_KEY_ID",
		"s3://bucket/a?X-Amz-Signature=hunter2": "no parameters but versionId",
		"http://me:hunter2@host/a?sig=hunter2":  "cannot write over http",
		"gs://bucket/a":                         "larder-cloud",
		"s3:///a":                               "names no host",
	} {
		err := objectstore.CheckPut(url)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", url, err)
		}
		if want != "" {
			if perr := objectstore.Put(t.Context(), url, objectstoretest.Content(nil), nil); perr == nil || strings.Contains(perr.Error(), "hunter2") {
				t.Errorf("%s: written: %v", url, perr)
			}
		}
	}
	if n := s.Requests(); len(n) != 0 {
		t.Errorf("%v was requested", n)
	}
}

// TestWrongDigest checks that a service stores nothing if the digest does not match.
func TestWrongDigest(t *testing.T) {
	_, o := objectstoretest.S3(t)
	c := objectstoretest.Content([]byte("content"))
	c.Sum = objectstoretest.Content([]byte("other")).Sum
	if err := objectstore.Put(t.Context(), "s3://bucket/a", c, nil); err == nil || errors.Is(err, objectstore.ErrChanged) || len(o.Names()) != 0 {
		t.Errorf("%v, there is %v", err, o.Names())
	}
}

// TestPutByName checks that an object is written at its own name.
func TestPutByName(t *testing.T) {
	_, o := objectstoretest.S3(t)
	for _, url := range []string{"s3://bucket/n/a#b", "s3://bucket/n/a%23c", "s3://bucket/n/a+b c"} {
		if err := errors.Join(objectstore.CheckPut(url), objectstore.Put(t.Context(), url, objectstoretest.Content([]byte(url)), nil)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a#b": "s3://bucket/n/a#b", "a#c": "s3://bucket/n/a%23c", "a+b c": "s3://bucket/n/a+b c"} {
		if got := string(o.Get("bucket/n/" + name)); got != want {
			t.Errorf("%s: %q, %q; the objects are %q", name, got, want, o.Names())
		}
	}
}
