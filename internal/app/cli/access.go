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
	c.Flags().StringVar(&f.tokenFile, "token-file", "", when+"a `file` with the token that clients send; only its owner may read it")
	c.Flags().StringVar(&f.cert, "tls-cert", "", when+"a `file` with the server's certificate (PEM)")
	c.Flags().StringVar(&f.key, "tls-key", "", when+"a `file` with the certificate's key (PEM)")
	c.Flags().StringVar(&f.clientCA, "client-ca", "", when+"admit clients with a certificate of the authority in this `file` (PEM)")
}

func (f *accessFlags) check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return errors.New("give both --tls-cert and --tls-key, or neither")
	case f.clientCA != "" && f.cert == "":
		return errors.New("--client-ca: no server certificate; give --tls-cert and --tls-key")
	}
	return nil
}

func (f *accessFlags) token() (string, error) {
	if f.tokenFile == "" {
		return "", nil
	}
	token, err := secret("--token-file", f.tokenFile)
	if err == nil && len(token) < 16 {
		err = errors.New("--token-file: the token must have at least 16 characters; create one by openssl rand -hex 32")
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
		return "", fmt.Errorf("%s: other users can read %s; run chmod 600 on the file", flag, path)
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
