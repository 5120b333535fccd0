package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/serve"
)

// listenFlags are the flags of larder serve about other machines.
type listenFlags struct {
	address   string
	flows     string
	tokenFile string
	cert, key string
	clientCA  string
}

func (f *listenFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "listen", "", "hand batches to other machines, too, at this `host:port`; needs --flows, and --token-file or --client-ca. The server then does not end when nobody is connected")
	c.Flags().StringVar(&f.flows, "flows", "", "with --listen: the `folder` of the flows that others may read")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "with --listen: a `file` with the token that others send, that only you can read")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "with --listen: the server's certificate, a `file` (PEM)")
	c.Flags().StringVar(&f.key, "tls-key", "", "with --listen: the key of the certificate, a `file` (PEM)")
	c.Flags().StringVar(&f.clientCA, "client-ca", "", "with --listen: let those in who have a certificate of this authority, a `file` (PEM)")
}

func (f *listenFlags) check(given func(name string) bool) error {
	if f.address == "" {
		for _, name := range []string{"flows", "token-file", "tls-cert", "tls-key", "client-ca"} {
			if given(name) {
				return fmt.Errorf("--%s goes with --listen", name)
			}
		}
		return nil
	}
	switch {
	case f.flows == "":
		return errors.New("--listen: name the folder of the flows that others may read by --flows")
	case f.tokenFile == "" && f.clientCA == "":
		return errors.New("--listen: say who may come in, by --token-file or --client-ca")
	case (f.cert == "") != (f.key == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case f.clientCA != "" && f.cert == "":
		return errors.New("--client-ca: the server needs a certificate itself (--tls-cert, --tls-key)")
	}
	return nil
}

// token reads the file of the token.
func (f *listenFlags) token() (string, error) {
	if f.tokenFile == "" {
		return "", nil
	}
	info, err := os.Stat(f.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() {
		return "", fmt.Errorf("--token-file: others can read %s; run chmod 600 on it", f.tokenFile)
	}
	b, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 {
		return "", errors.New("--token-file: a token has 16 characters at least; openssl rand -hex 32 makes one")
	}
	return token, nil
}

// tls reads the certificates; nil if there are none.
func (f *listenFlags) tls() (*tls.Config, error) {
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

// serveRemote serves this machine and others.
func (a *app) serveRemote(ctx context.Context, s *serve.Server, l *net.UnixListener, f listenFlags) (err error) {
	token, err := f.token()
	if err != nil {
		return usageError{err}
	}
	config, err := f.tls()
	if err != nil {
		return usageError{err}
	}
	remote, err := s.Remote(serve.RemoteOptions{Flows: f.flows, Token: token})
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, remote.Close()) }()
	var lc net.ListenConfig
	tcp, err := lc.Listen(ctx, "tcp", f.address)
	if err != nil {
		return usageError{fmt.Errorf("--listen: %w", err)}
	}
	scheme := "http"
	if config != nil {
		tcp, scheme = tls.NewListener(tcp, config), "https"
	} else {
		fmt.Fprintln(a.stderr, "larder: warning: without --tls-cert, the token and all data can be read by whoever sees the network")
	}
	fmt.Fprintf(a.stderr, "larder: batches for other machines at %s://%s\n", scheme, tcp.Addr())
	h := remote.HTTP()
	done := make(chan error, 1)
	go func() { done <- h.Serve(tcp) }()
	err = s.Serve(ctx, l)
	_ = h.Close() // whoever is still reading goes on elsewhere from its state
	if herr := <-done; !errors.Is(herr, http.ErrServerClosed) {
		err = errors.Join(err, herr)
	}
	return err
}
