package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/server/embedproxy"
	"github.com/larder-data/larder/internal/text/display"
)

type embedFlags struct {
	accessFlags
	listen     string
	keyFile    string
	batchBytes string
	options    embedproxy.Options
}

func (a *app) embedCommand() *cobra.Command {
	var f embedFlags
	c := &cobra.Command{
		Use:   "embed --upstream URL",
		Short: "Run a caching proxy for an embeddings API",
		Long: `Answers POST /v1/embeddings of OpenAI's API from the cache, and requests missing
vectors from the upstream in batches. Set the base URL of clients to
http://127.0.0.1:8700/v1.

The Authorization of clients is passed on and not stored. Every client that
reaches the server gets cached results, so by default only this machine can. With
--listen HOST:PORT, other machines need a token or a certificate.

GET /v1/models is passed on, /metrics has metrics for Prometheus, and /healthz
returns ok.`,
		Args: words(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return a.embed(c.Context(), f) },
	}
	o := &f.options
	c.Flags().StringVar(&o.Upstream, "upstream", "", "base `URL` of the service, such as https://api.openai.com/v1")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8700", "listen on this `host:port`; for other machines, --token-file or --client-ca is required")
	c.Flags().StringVar(&o.Identity, "identity", "", "`name` of the upstream in keys (default: its URL); change it when the model returns other vectors")
	c.Flags().IntVar(&o.Batch, "batch", 64, "maximum inputs in one request to the upstream")
	c.Flags().StringVar(&f.batchBytes, "batch-bytes", "256KiB", "maximum bytes of these; a single input may have more")
	c.Flags().IntVar(&o.Calls, "calls", 4, "concurrent requests to the upstream")
	c.Flags().IntVar(&o.Retries, "retries", 3, "retries of a request that the upstream refused for the moment or did not receive")
	c.Flags().DurationVar(&o.Timeout, "timeout", time.Minute, "maximum time of one request to the upstream")
	c.Flags().BoolVar(&o.Floats, "floats", false, "request lists of numbers from the upstream instead of base64 (float32)")
	c.Flags().StringVar(&f.keyFile, "upstream-key-file", "", "a `file` with the Authorization for the upstream, in place of that of clients; requires --token-file")
	f.flags(c, "")
	_ = c.MarkFlagRequired("upstream") // the flag exists
	return c
}

// complete checks the flags and reads the files that they name.
func (f *embedFlags) complete() (config *tls.Config, err error) {
	switch {
	case f.options.Batch < 1:
		return nil, fmt.Errorf("--batch %d: must be at least 1", f.options.Batch)
	case f.options.Calls < 1:
		return nil, fmt.Errorf("--calls %d: must be at least 1", f.options.Calls)
	case f.options.Retries < 0:
		return nil, fmt.Errorf("--retries %d: must not be negative", f.options.Retries)
	case f.options.Timeout <= 0:
		return nil, fmt.Errorf("--timeout %v: must be above 0", f.options.Timeout)
	case f.keyFile != "" && f.tokenFile == "":
		return nil, errors.New("--upstream-key-file: requires --token-file, because otherwise any client could use the key")
	}
	bytes, err := display.ParseSize(f.batchBytes)
	if err != nil || bytes < 1 || bytes > 1<<30 {
		return nil, fmt.Errorf("--batch-bytes %q: must be a size such as 256KiB, at most 1GiB", f.batchBytes)
	}
	f.options.BatchBytes = int(bytes)
	if f.options.Retries == 0 {
		f.options.Retries = -1
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.options.Token, err = f.token(); err != nil {
		return nil, err
	}
	if f.keyFile != "" {
		if f.options.UpstreamKey, err = secret("--upstream-key-file", f.keyFile); err != nil {
			return nil, err
		}
	}
	return f.tls()
}

func (f *embedFlags) open(ctx context.Context) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", f.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	guarded := f.tokenFile != "" || f.clientCA != ""
	loopback := addr.IP != nil && addr.IP.IsLoopback()
	if !loopback && !guarded {
		return nil, fmt.Errorf("--listen %s: other machines can reach this address; admit clients by --token-file or --client-ca", f.listen)
	}
	f.options.Local = loopback && !guarded
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr.String())
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

func (a *app) embed(ctx context.Context, f embedFlags) error {
	config, err := f.complete()
	if err != nil {
		return usageError{err}
	}
	return a.withLarder(larder.Options{}, func(l *larder.Larder) error {
		at, err := f.open(ctx)
		if err != nil {
			return usageError{err}
		}
		defer at.Close()
		f.options.Larder, f.options.Log = l, a.logger()
		h, err := embedproxy.New(f.options)
		if err != nil {
			return usageError{err}
		}
		scheme := "http"
		if config != nil {
			at, scheme = tls.NewListener(at, config), "https"
		} else if !f.options.Local && f.tokenFile != "" && !at.Addr().(*net.TCPAddr).IP.IsLoopback() {
			fmt.Fprintln(a.stderr, "larder: warning: without --tls-cert, anyone on the network can read the token and all texts")
		}
		fmt.Fprintf(a.stderr, "larder: embeddings at %s://%s/v1\n", scheme, at.Addr())
		return a.serveEmbeddings(ctx, h.Server(), at)
	})
}

// lastAnswers is how long requests in progress may continue when the program
// ends.
const lastAnswers = 10 * time.Second

// serveEmbeddings serves until the program is to end. Then it accepts no new
// requests, and waits a limited time for those in progress.
func (a *app) serveEmbeddings(ctx context.Context, s *http.Server, at net.Listener) error {
	done := make(chan error, 1)
	go func() { done <- s.Serve(at) }()
	select {
	case err := <-done:
		return failure{err}
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
	defer cancel()
	if err := s.Shutdown(last); err != nil {
		_ = s.Close()
	}
	<-done //nolint:errcheck // it says that it was closed
	return nil
}
