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

// writeTo has a file written, which has its name only once it is complete. Where
// a link has the name, what it leads to is replaced; other names of a file that
// is replaced keep the old one. The folder is made where there is none: see
// [checkWritable].
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "-" {
		return buffered(a.stdout, write)
	}
	if isDevice(file) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0) // append: it may be a file that is open
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	if err := os.MkdirAll(filepath.Dir(pathguard.Resolve(file)), 0o777); err != nil { // what was to make it may have failed
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

// streamBuffer is how much of a stream is read or written at once.
const streamBuffer = 1 << 20

// buffered has w written in large pieces.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, streamBuffer)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// writeJSON writes v for machines.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return failure{err}
	}
	return nil
}

// written is the error of writing what was asked for.
func written(err error) error {
	if err != nil {
		return failure{err}
	}
	return nil
}

// printable shows text of unknown origin on one line, without what a terminal
// would act on.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
