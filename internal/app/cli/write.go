package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// writeTo writes a file, which gets its name only once it is complete. If the
// name is a link, its target is replaced; hard links of a replaced file keep
// the old content. It creates a missing directory: see [checkWritable].
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "-" {
		return buffered(a.stdout, write)
	}
	if isDevice(file) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0) // append, because the file may be open
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	if err := os.MkdirAll(filepath.Dir(pathguard.Resolve(file)), 0o777); err != nil { // the node that creates it may have failed
		return err
	}
	f, err := output.Stage(pathguard.Resolve(file))
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := buffered(f, write); err != nil {
		return err
	}
	return f.Publish(true)
}

const streamBuffer = 1 << 20

// buffered writes to w in large pieces.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, streamBuffer)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return failure{err}
	}
	return nil
}

// written returns the error of writing the requested output.
func written(err error) error {
	if err != nil {
		return failure{err}
	}
	return nil
}

// printable returns untrusted text on one line, without control sequences.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
