package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/inventory"
	"github.com/larder-data/larder/store"
)

func (a *app) exportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "export -o FILE [PREFIX|NODE]...",
		Short: "Write records to a file, to be imported on another machine",
		Long: `Write records to a file, to be imported on another machine: those of the given
nodes (operations, as larder ls lists them) or with the given beginnings of
keys, or all. What a link leads to goes with it.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.export(c.Context(), file, args)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (- for stdout)")
	if err := c.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is above
	}
	return c
}

func (a *app) export(ctx context.Context, file string, names []string) error {
	return a.existing(true, func(s store.Store) error {
		if s == nil {
			return usageError{errors.New("nothing to export")}
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
			fmt.Fprintf(a.stderr, "%d %s of files left out, which mean nothing on another machine\n", n.FileDigests, plural(n.FileDigests, "digest"))
		}
		if n.Lost > 0 {
			fmt.Fprintf(a.stderr, "%d %s left out, which are gone or link to one that is\n", n.Lost, plural(n.Lost, "record"))
		}
		return nil
	})
}

// writeTo has a file written, which has its name only once it is complete.
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "-" {
		return buffered(a.stdout, write)
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0) // a pipe or a device
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	temp := filepath.Join(filepath.Dir(file), fmt.Sprintf(".%s.%d", filepath.Base(file), os.Getpid()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(buffered(f, write), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

const streamBuffer = 1 << 20

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, streamBuffer)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
