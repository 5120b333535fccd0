package objectstore

import (
	"context"
	"errors"
	"io"
	"time"
)

// sending runs do, which sends a part of the content. It cancels do if for too long the
// service takes no bytes and sends no answer.
func (w *putting) sending(ctx context.Context, at, n int64, do func(ctx context.Context, body io.ReadSeeker) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := time.AfterFunc(stallTime, func() { cancel(errStalled) })
	defer t.Stop()
	err := do(ctx, &taken{SectionReader: io.NewSectionReader(w.Body, at, n), watch: t})
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// taken is a part of a content that records progress.
type taken struct {
	*io.SectionReader
	watch *time.Timer
}

// Read implements io.Reader.
func (t *taken) Read(b []byte) (int, error) {
	t.watch.Reset(stallTime)
	return t.SectionReader.Read(b)
}

// endTime is how long a service may take to combine parts: minutes, if there are many.
var endTime = 10 * time.Minute
