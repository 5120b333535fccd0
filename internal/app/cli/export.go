package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/store"
)

func (a *app) exportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "export -o FILE [PREFIX|NODE]...",
		Short: "Write records to a file for another machine",
		Long: `Writes records to a file, which larder import reads on another machine. Select
records by node (an operation, as larder ls lists it) or by the beginning of
their keys; the default is all. The target of a link is written with it.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.export(c.Context(), file, args)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (- for stdout)")
	if err := c.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is defined above
	}
	return c
}

func (a *app) export(ctx context.Context, file string, names []string) error {
	in, err := a.reading(ctx, nil, variables{})
	if err != nil {
		return err
	}
	if err := protectFile(ctx, in, "-o", file); err != nil {
		return err
	}
	return a.existing(true, func(s store.Store) error {
		if s == nil {
			return usageError{errors.New("no cache to export from")}
		}
		sel, err := inventory.Select(ctx, s, names...)
		if err != nil {
			return inventoryError(err)
		}
		var n inventory.Exported
		err = a.writeTo(file, func(w io.Writer) (err error) {
			n, err = inventory.Export(ctx, s, sel, w)
			return err
		})
		if err != nil {
			return failure{err}
		}
		fmt.Fprintf(a.stderr, "%s exported\n", recordsOf(n.Records, n.Bytes))
		if n.FileDigests > 0 {
			fmt.Fprintf(a.stderr, "%d %s of files omitted, because they are valid on this machine only\n", n.FileDigests, plural(n.FileDigests, "digest"))
		}
		if n.Lost > 0 {
			fmt.Fprintf(a.stderr, "%d %s omitted, because they or the targets of their links are missing\n", n.Lost, plural(n.Lost, "record"))
		}
		return nil
	})
}
