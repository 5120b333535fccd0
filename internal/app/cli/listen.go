package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/server"
)

// listenFlags are the flags of larder serve for other machines.
type listenFlags struct {
	accessFlags
	address string
	flows   string
}

func (f *listenFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "listen", "", "serve other machines too, on this `host:port`; requires --flows, and --token-file or --client-ca. The server then stays without clients")
	c.Flags().StringVar(&f.flows, "flows", "", "with --listen: the `directory` of the flows that clients may read")
	f.accessFlags.flags(c, "with --listen: ")
}

func (f *listenFlags) check(given func(name string) bool) error {
	if f.address == "" {
		for _, name := range []string{"flows", "token-file", "tls-cert", "tls-key", "client-ca"} {
			if given(name) {
				return fmt.Errorf("--%s is valid only with --listen", name)
			}
		}
		return nil
	}
	switch {
	case f.flows == "":
		return errors.New("--listen: no flows; name their directory by --flows")
	case f.tokenFile == "" && f.clientCA == "":
		return errors.New("--listen: no access; admit clients by --token-file or --client-ca")
	}
	return f.accessFlags.check()
}

// serveRemote serves this machine and others.
func (a *app) serveRemote(ctx context.Context, s *server.Server, l *net.UnixListener, f listenFlags) (err error) {
	token, err := f.token()
	if err != nil {
		return usageError{err}
	}
	config, err := f.tls()
	if err != nil {
		return usageError{err}
	}
	remote, err := s.Remote(server.RemoteOptions{Flows: f.flows, Token: token})
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
		fmt.Fprintln(a.stderr, "larder: warning: without --tls-cert, anyone on the network can read the token and all data")
	}
	fmt.Fprintf(a.stderr, "larder: batches for other machines at %s://%s\n", scheme, tcp.Addr())
	h := remote.HTTP()
	done := make(chan error, 1)
	go func() { done <- h.Serve(tcp) }()
	err = s.Serve(ctx, l)
	_ = h.Close() // remaining clients continue elsewhere from their state
	if herr := <-done; !errors.Is(herr, http.ErrServerClosed) {
		err = errors.Join(err, herr)
	}
	return err
}
