package python

import "context"

// A Session is a worker that one user has, for tasks one after another: what the function has
// in its process stays there between them. There may be any number beside the workers that a
// pool has at once. Do is for one goroutine at a time, and so is Close.
type Session struct {
	pool   *Pool // to have it
	worker *worker
}

// Begin begins a session with a worker of a pool that has nothing to do, or a new one.
func Begin(ctx context.Context, p *Pool) (*Session, error) {
	w, err := crewOf(p.number).take(ctx)
	if err != nil {
		return nil, err
	}
	return &Session{p, w}, nil
}

// Do has a task done. It is an error after any other error than a *FunctionError, and than
// what Fill returned, as the worker has ended then.
func (s *Session) Do(ctx context.Context, t *Task) error {
	_, err := s.worker.carryOut(ctx, t)
	return err
}

// Interrupt has what the worker does raise KeyboardInterrupt, where the system can do that;
// else it ends the worker. It may be called while Do is under way.
func (s *Session) Interrupt() { s.worker.interrupt() }

// Look has looked at what the worker has put into its memory, if it shares that and is at
// work. It may be called while Do is under way. What the worker put there within the last
// milliseconds may not be whole.
func (s *Session) Look(read func(memory []byte)) {
	w := s.worker
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.atWork {
		w.show(read)
	}
}

// Close ends the worker.
func (s *Session) Close() { s.worker.close() }
