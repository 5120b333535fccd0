package place

import (
	"context"
	"errors"
	"io"
	"time"
)

// sending does what sends a part of the content, and ends it when for too long nothing of that is
// taken, and nothing answered.
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

// taken is a part of a content, which notes that some of it is taken.
type taken struct {
	*io.SectionReader
	watch *time.Timer
}

// Read implements io.Reader.
func (t *taken) Read(b []byte) (int, error) {
	t.watch.Reset(stallTime)
	return t.SectionReader.Read(b)
}

// endTime is how long a service may take to put parts together: minutes, of many.
var endTime = 10 * time.Minute
