package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// eventLog appends events to a file, one JSON object per line.
type eventLog struct {
	mu   sync.Mutex // warnings come from any goroutine
	file io.WriteCloser
	err  error // the first
}

// openEvents opens the log that --events names. Without one it returns a log
// that drops events.
func openEvents(file string) (*eventLog, error) {
	if file == "" {
		return &eventLog{}, nil
	}
	f, err := openToAppend(file)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return &eventLog{file: f}, nil
}

// openToAppend opens a file to append to it. It follows a link to the target
// that was checked. It refuses a file with several names, because the appended
// data would appear under all of them.
func openToAppend(file string) (*os.File, error) {
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if isDevice(file) {
		return os.OpenFile(file, flags, 0o666)
	}
	f, err := os.OpenFile(pathguard.Resolve(file), flags|noFollow, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && shared(info) {
		err = fmt.Errorf("%s has a hard link, so events would be appended to both; choose another file", file)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (l *eventLog) observe(e flow.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil || l.err != nil {
		return
	}
	b, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(b, '\n'))
	}
	l.err = err
}

// close ends the log. Later warnings, from abandoned computations, are dropped.
func (l *eventLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.err, l.file.Close())
	l.file = nil
	if err != nil {
		return failure{fmt.Errorf("events: %w", err)}
	}
	return nil
}
