package s3_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/webdataset"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/pool"
)

// gateway starts an S3 server over a directory, and returns a client of it.
func gateway(t *testing.T) *minio.Client {
	t.Helper()
	c, _ := gatewayAt(t)
	return c
}

// gatewayAt is like gateway, and returns the address, too.
func gatewayAt(t *testing.T) (c *minio.Client, address string) {
	t.Helper()
	program, err := exec.LookPath(cmp.Or(os.Getenv("LARDER_VERSITYGW"), "versitygw"))
	if err != nil {
		t.Skip("there is no versitygw: install github.com/versity/versitygw/cmd/versitygw, and name it by LARDER_VERSITYGW")
	}
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	dir, versions := t.TempDir(), t.TempDir()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--port", address, "--access", "name", "--secret", "hunter2", "--keep-alive", "--quiet", "posix", "--versioning-dir", versions, dir)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	t.Cleanup(func() { <-ended })
	answers(t, address, ended, &output)
	t.Setenv("AWS_ENDPOINT_URL", "http://"+address)
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "name")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	c, err = minio.New(address, &minio.Options{Creds: credentials.NewStaticV4("name", "hunter2", ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	return c, address
}

// TestConformPutAtAServer does the same with a real server, which verifies signatures.
func TestConformPutAtAServer(t *testing.T) {
	c, address := gatewayAt(t)
	ctx := context.WithoutCancel(t.Context())
	if err := c.MakeBucket(ctx, "bucket", minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	through := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(through.CloseIdleConnections)
	s := objectstoretest.Front(t, &httputil.ReverseProxy{Transport: through, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host // which is signed
	}})
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	objectstoretest.ConformPut(t, objectstoretest.Service{
		Server: s, Secret: "hunter2",
		Unfinished: func(t *testing.T) (n int) {
			for u := range c.ListIncompleteUploads(ctx, "bucket", "", true) {
				if u.Err != nil {
					t.Fatal(u.Err)
				}
				n++
			}
			return n
		},
		Store: func(t *testing.T, name string, content []byte) string {
			put(t, c, "dir/"+name, content)
			return "s3://bucket" + (&url.URL{Path: "/dir/" + name}).EscapedPath()
		},
	})
}

// TestPutKeepsOldVersions checks that a versioned bucket keeps replaced and removed objects as old versions.
func TestPutKeepsOldVersions(t *testing.T) {
	c := gateway(t)
	ctx := context.WithoutCancel(t.Context())
	if err := errors.Join(c.MakeBucket(ctx, "bucket", minio.MakeBucketOptions{}), c.EnableVersioning(ctx, "bucket")); err != nil {
		t.Fatal(err)
	}
	put(t, c, "a", []byte("old"))
	was, err := objectstore.Stat(t.Context(), "s3://bucket/a")
	if err == nil {
		err = objectstore.Put(t.Context(), "s3://bucket/a", objectstoretest.Content([]byte("new")), was)
	}
	if err != nil {
		t.Fatal(err)
	}
	now, err := objectstore.Stat(t.Context(), "s3://bucket/a")
	if err == nil {
		err = objectstore.Delete(t.Context(), "s3://bucket/a", *now)
	}
	if v, lerr := objectstore.Stat(t.Context(), "s3://bucket/a"); err != nil || lerr != nil || v != nil {
		t.Errorf("%v, %v, there is %+v", err, lerr, v)
	}
	for content, v := range map[string]*objectstore.Version{"old": was, "new": now} {
		_, version, _ := strings.Cut(v.Tag, " version ")
		f, err := objectstore.Open(t.Context(), "s3://bucket/a?versionId="+version)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := read(t, f, 0, f.Size); err != nil || string(b) != content {
			t.Errorf("%q, %v", b, err)
		}
	}
}

// answers waits until a server listens on an address.
func answers(t *testing.T, address string, ended <-chan struct{}, output *bytes.Buffer) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var d net.Dialer
		if c, err := d.DialContext(t.Context(), "tcp", address); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-ended:
			if strings.Contains(output.String(), "xattr") {
				t.Skipf("versitygw wants a file system with extended attributes for %s: %s", filepath.Dir(t.TempDir()), output)
			}
			t.Fatalf("versitygw ended: %s", output)
		case <-tick.C:
		}
	}
}

func put(t *testing.T, c *minio.Client, key string, content []byte) {
	t.Helper()
	if _, err := c.PutObject(t.Context(), "bucket", key, bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestServer checks that reads from a real server return the version that was opened.
func TestServer(t *testing.T) {
	c := gateway(t)
	ctx := context.WithoutCancel(t.Context())
	if err := c.MakeBucket(ctx, "bucket", minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	want := content(3_000_000)
	for _, key := range []string{"shards/a-00.tar", "shards/b 1+ä.tar", "shards/below/c.tar", "other.tar"} {
		put(t, c, key, want)
	}
	put(t, c, "shards/empty", nil)
	all, err := objectstore.List(t.Context(), "s3://bucket/shards/")
	if err != nil || strings.Join(all, " ") != "s3://bucket/shards/a-00.tar s3://bucket/shards/b%201+%C3%A4.tar s3://bucket/shards/empty" {
		t.Fatalf("%v, %v", all, err)
	}
	for _, url := range all[:2] {
		f, err := objectstore.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := read(t, f, 1_000_000, 1_500_000); err != nil || !bytes.Equal(b, want[1_000_000:2_500_000]) || f.Size != int64(len(want)) {
			t.Errorf("%s: %d bytes, %v", url, len(b), err)
		}
	}
	if f, err := objectstore.Open(t.Context(), all[2]); err != nil || f.Size != 0 {
		t.Errorf("%v", err)
	}
	f, err := objectstore.Open(t.Context(), "s3://bucket/other.tar")
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "other.tar", make([]byte, len(want)))
	if b, err := read(t, f, 0, 10); !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("%q, %v", b, err)
	}
	for _, url := range []string{"s3://bucket/none", "s3://none/other.tar"} {
		if _, err := objectstore.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), "there is no such") {
			t.Errorf("%s: %v", url, err)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if _, err := objectstore.Open(t.Context(), "s3://bucket/other.tar"); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("%v", err)
	}
}

// TestOldVersions checks that an open file in a versioned bucket is still read as it was.
func TestOldVersions(t *testing.T) {
	c := gateway(t)
	ctx := context.WithoutCancel(t.Context())
	if err := errors.Join(c.MakeBucket(ctx, "bucket", minio.MakeBucketOptions{}), c.EnableVersioning(ctx, "bucket")); err != nil {
		t.Fatal(err)
	}
	put(t, c, "a", []byte("old content"))
	f, err := objectstore.Open(t.Context(), "s3://bucket/a")
	if err != nil {
		t.Fatal(err)
	}
	put(t, c, "a", []byte("new content"))
	if b, err := read(t, f, 0, f.Size); err != nil || string(b) != "old content" {
		t.Errorf("%q, %v (%s)", b, err, f.Tag)
	}
	_, version, _ := strings.Cut(f.Tag, " version ")
	named, err := objectstore.Open(t.Context(), "s3://bucket/a?versionId="+version)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := read(t, named, 0, named.Size); err != nil || string(b) != "old content" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestArchivesInADirectory checks that the archives of a directory are one dataset, whose samples are read in place.
func TestArchivesInADirectory(t *testing.T) {
	c := gateway(t)
	if err := c.MakeBucket(context.WithoutCancel(t.Context()), "bucket", minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for j := range 100 {
			text := fmt.Sprintf("sample %d of %d", j, i)
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%03d.txt", j), Mode: 0o600, Size: int64(len(text))}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		put(t, c, fmt.Sprintf("shards/%d.tar", i), b.Bytes())
	}
	put(t, c, "shards/readme.txt", []byte("no archive"))
	l, err := larder.Open(larder.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var traffic objectstore.Traffic
	ctx := objectstore.Count(t.Context(), &traffic)
	ds, err := webdataset.Source{}.Open(ctx, "s3://bucket/shards/", &component.Env{Larder: l, Pool: pool.New(2)})
	if err != nil || ds.Len() != 300 {
		t.Fatal(err)
	}
	for i := range 300 {
		sample, err := ds.At(ctx, (7*i)%300)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := sample.Value(ctx, "txt"); err != nil || v != fmt.Sprintf("sample %d of %d", (7*i)%300%100, (7*i)%300/100) {
			t.Fatalf("%d: %v, %v", i, v, err)
		}
	}
	if n := traffic.Requests.Load(); n > 3*(1+3+3) {
		t.Errorf("%d requests for 3 small archives", n)
	}
}
