package redis

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// certificate writes a self-signed certificate for 127.0.0.1, with its key.
func certificate(t *testing.T) (cert, private string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, private = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, private: {Type: "EC PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, private
}

// freePort returns a port that is unused at this moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestTLS checks that a server is used over TLS if and only if its certificate is trusted.
func TestTLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux does SSL_CERT_FILE say which certificates are trusted")
	}
	cert, private := certificate(t)
	port := freePort(t)
	startServer(t, "--tls-port", fmt.Sprint(port), "--tls-cert-file", cert, "--tls-key-file", private, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no", "--requirepass", "hunter2")
	url, log := fmt.Sprintf("rediss://:hunter2@127.0.0.1:%d/0", port), &logged{}
	passes(t, open(t, Options{URL: url, Logger: log.logger()}))
	saysOnce(t, log, "certificate")

	t.Setenv("SSL_CERT_FILE", cert) // which a process reads once
	cmd, _ := child(t, "trust", url, "")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// trust puts a record and gets it back.
func trust(s *Store, _ string) error {
	r := store.Record{Key: storetest.Key(1), Payload: []byte("over TLS")}
	if err := s.Put(context.Background(), r); err != nil {
		return err
	}
	_, err := s.Get(context.Background(), r.Key)
	return err
}

// TestNothingIsLeft checks that background work ends with the store.
func TestNothingIsLeft(t *testing.T) {
	server := startServer(t)
	before := goleak.IgnoreCurrent()
	for _, url := range []string{server.url(), "unix:///none"} {
		s, err := Open(Options{URL: url, Logger: (&logged{}).logger(), MaxBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			_ = s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: make([]byte, 500)})
			if _, err := s.Lease(t.Context(), storetest.Key(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	goleak.VerifyNone(t, before)
}
