package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// accessFlags are the flags of servers for access control.
type accessFlags struct {
	tokenFile string
	cert, key string
	clientCA  string
}

// flags adds the flags. Their descriptions start with when, which says when
// they apply.
func (f *accessFlags) flags(c *cobra.Command, when string) {
	c.Flags().StringVar(&f.tokenFile, "token-file", "", when+"a `file` with the token that others send, that only you can read")
	c.Flags().StringVar(&f.cert, "tls-cert", "", when+"the server's certificate, a `file` (PEM)")
	c.Flags().StringVar(&f.key, "tls-key", "", when+"the key of the certificate, a `file` (PEM)")
	c.Flags().StringVar(&f.clientCA, "client-ca", "", when+"let those in who have a certificate of this authority, a `file` (PEM)")
}

func (f *accessFlags) check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case f.clientCA != "" && f.cert == "":
		return errors.New("--client-ca: the server needs a certificate itself (--tls-cert, --tls-key)")
	}
	return nil
}

func (f *accessFlags) token() (string, error) {
	if f.tokenFile == "" {
		return "", nil
	}
	token, err := secret("--token-file", f.tokenFile)
	if err == nil && len(token) < 16 {
		err = errors.New("--token-file: a token has 16 characters at least; openssl rand -hex 32 makes one")
	}
	return token, err
}

// secret reads a file that only its owner may read; flag is for errors.
func secret(flag, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	if info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: others can read %s; run chmod 600 on it", flag, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// tls reads the certificates; nil if there are none.
func (f *accessFlags) tls() (*tls.Config, error) {
	if f.cert == "" {
		return nil, nil //nolint:nilnil // there is to be none
	}
	cert, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if f.clientCA != "" {
		pem, err := os.ReadFile(f.clientCA)
		if err != nil {
			return nil, fmt.Errorf("--client-ca: %w", err)
		}
		c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !c.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--client-ca: %s has no certificate", f.clientCA)
		}
	}
	return c, nil
}
