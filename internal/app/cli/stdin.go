package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/flow"
)

// flowFile is the flow of a command: a file, or standard input.
type flowFile struct {
	as string // file name for standard input
}

func (f *flowFile) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.as, "stdin-filename", "flow.yaml", "with - for FLOW: the `file` that standard input represents; relative paths start at its directory, and it identifies checkpoints")
}

const maxFlowBytes = 16 << 20

func (f *flowFile) parse(a *app, file string, set variables) (*flow.Flow, error) {
	if file != "-" {
		return a.parse(file, set)
	}
	if f.as == "" {
		return nil, usageError{errors.New("--stdin-filename: empty; name the file that relative paths start at")}
	}
	content, err := io.ReadAll(io.LimitReader(os.Stdin, maxFlowBytes+1))
	if err != nil {
		return nil, usageError{fmt.Errorf("standard input: %w", err)}
	}
	if len(content) > maxFlowBytes {
		return nil, usageError{fmt.Errorf("standard input: a flow has at most %d MiB", maxFlowBytes>>20)}
	}
	fl, err := a.parseText(filepath.Clean(f.as), content, set)
	if err == nil {
		fl.Files = fl.Files[1:] // standard input is not a file
	}
	return fl, err
}
