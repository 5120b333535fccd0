package az_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"github.com/larder-data/larder/objectstore"
	_ "github.com/larder-data/larder/objectstore/cloud/az"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// secret is the key of the account, as Azure writes keys.
var secret = base64.StdEncoding.EncodeToString([]byte("hunter2"))

// azurite starts Azure's own server for tests, and returns its address.
func azurite(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath(cmp.Or(os.Getenv("LARDER_AZURITE"), "azurite-blob"))
	if err != nil {
		t.Skip("there is no azurite-blob: npm install azurite, and name node_modules/.bin/azurite-blob by LARDER_AZURITE")
	}
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--blobHost", host, "--blobPort", port, "--location", t.TempDir(), "--silent", "--skipApiVersionCheck", "--disableTelemetry")
	cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS=name:"+secret)
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
	return address
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
			t.Fatalf("azurite ended: %s", output)
		case <-tick.C:
		}
	}
}

// service redirects az:// to Azure's server for tests, behind one that fails.
func service(t *testing.T) (*objectstoretest.Server, *azblob.Client) {
	t.Helper()
	behind, err := url.Parse("http://" + azurite(t))
	if err != nil {
		t.Fatal(err)
	}
	through := http.DefaultTransport.(*http.Transport).Clone()
	through.DisableCompression = true
	s := objectstoretest.Front(t, &httputil.ReverseProxy{Transport: through, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }})
	t.Cleanup(through.CloseIdleConnections)
	all := "DefaultEndpointsProtocol=http;AccountName=name;AccountKey=" + secret + ";BlobEndpoint=" + s.URL + "/name;"
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", all)
	c, err := azblob.NewClientFromConnectionString(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateContainer(context.WithoutCancel(t.Context()), "container", nil); err != nil {
		t.Fatal(err)
	}
	return s, c
}

// put stores a blob in the service and returns its URL.
func put(t *testing.T, c *azblob.Client, key string, content []byte, encoding *string) string {
	t.Helper()
	if _, err := c.UploadBuffer(t.Context(), "container", key, content, &azblob.UploadBufferOptions{HTTPHeaders: &blob.HTTPHeaders{BlobContentEncoding: encoding}}); err != nil {
		t.Fatal(err)
	}
	return "az://container" + (&url.URL{Path: "/" + key}).EscapedPath()
}

// TestAzurite checks that the driver does what package objectstore expects, with Azure's own server for tests. Blobs stored
// compressed are read as stored.
func TestAzurite(t *testing.T) {
	s, c := service(t)
	objectstoretest.Conform(t, objectstoretest.Service{Server: s, Secret: secret, Lists: true, Store: func(t *testing.T, name string, content []byte) string {
		return put(t, c, "dir/"+name, content, nil)
	}})
	objectstoretest.ConformPut(t, objectstoretest.Service{
		Server: s, Secret: secret, Unfinished: func(*testing.T) int { return 0 }, // which Azure does not report
		Store: func(t *testing.T, name string, content []byte) string { return put(t, c, "dir/"+name, content, nil) },
	})
	want := bytes.Repeat([]byte("\x1f\x8b\x08 no end of it "), 1000)
	packed := "gzip"
	f, err := objectstore.Open(t.Context(), put(t, c, "a.tar.gz", want, &packed))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5000)
	if err := f.ReadAt(t.Context(), b, 3000); err != nil || !bytes.Equal(b, want[3000:8000]) || f.Size != int64(len(want)) {
		t.Errorf("%v, %+v", err, f.Version)
	}
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "name")
	t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", s.URL+"/name")
	t.Setenv("AZURE_STORAGE_KEY", secret)
	if _, err := objectstore.Open(t.Context(), "az://container/a.tar.gz"); err != nil {
		t.Errorf("by a key: %v", err)
	}
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("wrong")))
	if _, err := objectstore.Open(t.Context(), "az://container/a.tar.gz"); err == nil || !strings.Contains(err.Error(), "AZURE_STORAGE_KEY") {
		t.Errorf("by a wrong key: %v", err)
	}
}

// TestRefused checks that an error in a URL or the environment is reported, without secrets.
func TestRefused(t *testing.T) {
	for _, name := range []string{"CONNECTION_STRING", "ACCOUNT", "KEY", "SAS_TOKEN", "SERVICE_ENDPOINT", "ANON"} {
		t.Setenv("AZURE_STORAGE_"+name, "")
	}
	refused := func(url, want string) {
		t.Helper()
		if _, err := objectstore.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
	refused("az://me:hunter2@container/a", "no user and no parameters")
	refused("az://container/a?sig=hunter2", "no user and no parameters")
	refused("az://container/a", "AZURE_STORAGE_ACCOUNT")
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "hunter2")
	refused("az://container/a", "AZURE_STORAGE_CONNECTION_STRING")
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "name")
	t.Setenv("AZURE_STORAGE_KEY", "%hunter2")
	refused("az://container/a", "AZURE_STORAGE_KEY")
	s := objectstoretest.Serve(t) // which refuses all requests
	s.Fail(func(int, *http.Request) objectstoretest.Fault {
		return objectstoretest.Fault{Status: http.StatusForbidden}
	})
	t.Setenv("AZURE_STORAGE_SERVICE_ENDPOINT", s.URL)
	t.Setenv("AZURE_STORAGE_KEY", "")
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024&sig=hunter2")
	refused("az://container/a", "AZURE_STORAGE_SAS_TOKEN")
	if r := s.Requests(); len(r) != 1 || r[0].Path != "/container/a" {
		t.Errorf("%v", r)
	}
	s.Close()
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2025&sig=hunter2")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := objectstore.Open(ctx, "az://container/a"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("of a service that is gone: %v", err)
	}
}
