package gs_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/larder-data/larder/objectstore"
	_ "github.com/larder-data/larder/objectstore/cloud/gs"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// service redirects gs:// to a server that behaves like Google's, behind one that fails.
func service(t *testing.T) (*objectstoretest.Server, *fakestorage.Server) {
	t.Helper()
	var behind http.Handler
	s := objectstoretest.Front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { behind.ServeHTTP(w, r) }))
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, PublicHost: strings.TrimPrefix(s.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Stop)
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	behind = fake.HTTPHandler()
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
	return s, fake
}

// put stores an object in the service and returns its URL.
func put(fake *fakestorage.Server, key string, content []byte, encoding string) string {
	fake.CreateObject(fakestorage.Object{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: key, ContentEncoding: encoding}, Content: content})
	return "gs://bucket" + (&url.URL{Path: "/" + key}).EscapedPath()
}

// TestConform checks that the driver does what package objectstore expects.
func TestConform(t *testing.T) {
	s, fake := service(t)
	objectstoretest.Conform(t, objectstoretest.Service{Server: s, Secret: "hunter2", Lists: true, Client: true,
		Store: func(_ *testing.T, name string, content []byte) string {
			return put(fake, "dir/"+name, content, "")
		}})
}

// TestConformPut does the same for writes.
func TestConformPut(t *testing.T) {
	s, fake := service(t)
	objectstoretest.ConformPut(t, objectstoretest.Service{Server: s, Secret: "hunter2", Client: true, Removes: true,
		Store: func(_ *testing.T, name string, content []byte) string {
			return put(fake, "dir/"+name, content, "")
		}})
	url := put(fake, "a", []byte("content"), "")
	v, err := objectstore.Stat(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	s.Requests()
	err = objectstore.Delete(t.Context(), url, *v)
	if r := s.Requests(); err != nil || len(r) != 1 || !strings.Contains(r[0].Query, "ifGenerationMatch="+strings.TrimPrefix(v.Tag, "generation ")) {
		t.Errorf("%v: %v", r, err)
	}
}

// TestRefused checks that unsupported parts of a URL are reported, without secrets.
func TestRefused(t *testing.T) {
	service(t)
	for _, bad := range []string{"gs://me:hunter2@bucket/a", "gs://bucket/a?token=hunter2"} {
		if _, err := objectstore.Open(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "GOOGLE_APPLICATION_CREDENTIALS") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestPacked checks that objects stored compressed are read as stored, as no part of them is a part of the decompressed
// data.
func TestPacked(t *testing.T) {
	_, fake := service(t)
	want := bytes.Repeat([]byte("\x1f\x8b\x08 no end of it "), 1000)
	f, err := objectstore.Open(t.Context(), put(fake, "a.tar.gz", want, "gzip"))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5000)
	if err := f.ReadAt(t.Context(), b, 3000); err != nil || !bytes.Equal(b, want[3000:8000]) || f.Size != int64(len(want)) {
		t.Errorf("%v, %+v", err, f.Version)
	}
}
