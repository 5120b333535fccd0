package zip_test

import (
	stdzip "archive/zip"
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/zip"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestFar checks that an archive at a URL reads as the local one. Network errors are
// reported as such, and checksums detect changed bytes.
func TestFar(t *testing.T) {
	var b bytes.Buffer
	w := stdzip.NewWriter(&b)
	want := strings.Repeat("content ", 1000)
	for _, name := range []string{"0.txt", "1.txt"} {
		to, err := w.CreateHeader(&stdzip.FileHeader{Name: name, Method: stdzip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(want)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := objectstoretest.Serve(t)
	ds, err := zip.Source{}.Open(t.Context(), s.Put("a.zip", b.Bytes()), &component.Env{})
	if err != nil || ds.Len() != 2 {
		t.Fatal(err)
	}
	read := func() (string, error) {
		sample, err := ds.At(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		v, err := sample.Value(context.WithoutCancel(t.Context()), "txt")
		got, _ := v.(string)
		return got, err
	}
	if got, err := read(); err != nil || got != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for fault, message := range map[objectstoretest.Fault]string{
		{Flip: 5000}:                     "damaged: the checksum",
		{Status: http.StatusForbidden}:   "403 forbidden",
		{Status: http.StatusNotFound}:    "the file changed",
		{Tag: `"another"`}:               "the file changed",
		{Redirect: s.URL + "/a.zip"}:     "sends on more than",
		{Range: "bytes of another kind"}: "unknown format",
	} {
		s.Fail(func(int, *http.Request) objectstoretest.Fault { return fault })
		if got, err := read(); err == nil || !strings.Contains(err.Error(), message) || fault.Flip == 0 && strings.Contains(err.Error(), "damaged") {
			t.Errorf("%+v: %d bytes, %v", fault, len(got), err)
		}
	}
}
