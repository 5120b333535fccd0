package python

import "context"

// A Session is a worker with a single user, for consecutive tasks: the state of the
// function's process persists between them. Sessions do not count against the
// workers of a pool. Do and Close must not be called concurrently.
type Session struct {
	pool   *Pool // keeps it alive
	worker *worker
}

// Begin starts a session with an idle worker of a pool, or a new one.
func Begin(ctx context.Context, p *Pool) (*Session, error) {
	w, err := crewOf(p.number).take(ctx)
	if err != nil {
		return nil, err
	}
	return &Session{p, w}, nil
}

// Do executes a task. After an error other than a *FunctionError or one of Fill,
// the worker has ended, and every further call fails.
func (s *Session) Do(ctx context.Context, t *Task) error {
	_, err := s.worker.execute(ctx, t)
	return err
}

// Interrupt raises KeyboardInterrupt in the worker, if the system supports that;
// otherwise it ends the worker. It may be called during Do.
func (s *Session) Interrupt() { s.worker.interrupt() }

// Peek calls read with the memory of the worker's answer, if that is shared and the
// worker is busy. It may be called during Do. Data of the last milliseconds may be
// incomplete.
func (s *Session) Peek(read func(memory []byte)) {
	w := s.worker
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.atWork {
		w.show(read)
	}
}

// Close ends the worker.
func (s *Session) Close() { s.worker.close() }
