package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// freeAddress returns an address on which no server listens.
func freeAddress(t *testing.T) (host, port string) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// serve starts a server until the test ends, and waits until it listens.
func serve(t *testing.T, address string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
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
			t.Fatalf("%s ended: %s", command[0], &output)
		case <-tick.C:
		}
	}
}

// realServers start servers of a directory.
var realServers = map[string]func(t *testing.T, program, dir string) (url string){
	"nginx": func(t *testing.T, program, dir string) string {
		host, port := freeAddress(t)
		own := t.TempDir()
		config := filepath.Join(own, "nginx.conf")
		text := fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log stderr;\nevents {}\nhttp { access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;\nserver { listen %[2]s:%[3]s; root %[4]s; } }\n", own, host, port, dir)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		serve(t, net.JoinHostPort(host, port), program, "-c", config, "-e", "stderr")
		return "http://" + net.JoinHostPort(host, port)
	},
	"python3": func(t *testing.T, program, dir string) string { // does not support ranges
		host, port := freeAddress(t)
		serve(t, net.JoinHostPort(host, port), program, "-m", "http.server", port, "--bind", host, "--directory", dir)
		return "http://" + net.JoinHostPort(host, port)
	},
}

// TestRealServers checks that files are read correctly from other servers.
func TestRealServers(t *testing.T) {
	for name, start := range realServers {
		t.Run(name, func(t *testing.T) {
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("there is no %s on PATH", name)
			}
			dir := t.TempDir()
			want := content(2_000_000)
			path := filepath.Join(dir, "a file.tar")
			if err := errors.Join(os.WriteFile(path, want, 0o600), os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour))); err != nil {
				t.Fatal(err)
			}
			url := start(t, program, dir) + "/a%20file.tar"
			f := open(t, url)
			if !f.Firm || f.Size != int64(len(want)) || f.Whole != (name == "python3") {
				t.Errorf("%+v", f.Version)
			}
			for _, at := range []int64{0, 1, 1_999_990} {
				n := min(int64(1_000_000), f.Size-at)
				if b, err := read(t, f, at, n); err != nil || !bytes.Equal(b, want[at:at+n]) {
					t.Errorf("%d bytes at %d, %v", len(b), at, err)
				}
			}
			if err := errors.Join(os.WriteFile(path, content(1_900_000), 0o600), os.Chtimes(path, time.Now(), time.Now().Add(-time.Minute))); err != nil {
				t.Fatal(err)
			}
			if b, err := read(t, f, 0, 10); !errors.Is(err, objectstore.ErrChanged) {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}

// TestCancelled checks that a canceled read returns without waiting.
func TestCancelled(t *testing.T) {
	stop := errors.New("enough")
	s := objectstoretest.Serve(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	f := open(t, s.Put("a", content(100_000)))
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Cut: 1000, Stall: true} })
	r, err := f.Reader(ctx, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel(stop)
	for err == nil {
		_, err = r.Read(make([]byte, 1000))
	}
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if _, err := objectstore.Open(ctx, s.URL+"/a"); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}
