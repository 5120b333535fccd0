package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Add the records of an exported file",
		Long: `Adds the records of an exported file (- for stdin) to the cache. Records that the
cache has already stay. Of a damaged file, the records before the damage are added.
Import only files from caches that you trust.`,
		Args: words(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.importFrom(c.Context(), c.InOrStdin(), args[0])
		},
	}
}

func (a *app) importFrom(ctx context.Context, stdin io.Reader, file string) error {
	if _, err := a.reading(ctx, nil, variables{}, pathguard.Input{Owner: "import", Path: file}); err != nil {
		return err
	}
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return usageError{err}
		}
		defer f.Close()
		stdin = f
	}
	return a.withLarder(larder.Options{}, func(l *larder.Larder) error {
		n, err := inventory.Import(ctx, l.Store(), bufio.NewReaderSize(stdin, streamBuffer))
		fmt.Fprintf(a.stderr, "%s imported, %d %s there already\n", recordsOf(n.Records, n.Bytes), n.Present, ifElse(n.Present == 1, "was", "were"))
		if errors.Is(err, inventory.ErrDamaged) {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return written(err)
	})
}
