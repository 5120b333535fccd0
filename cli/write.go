package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

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
