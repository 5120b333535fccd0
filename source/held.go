package source

import "time"

// heldFor is how long the sources of a program stay parsed once they are no longer
// asked for: they are tens of megabytes of small objects, which each collection of
// garbage would go through as long as the process lives.
const heldFor = time.Second

// held is when what is parsed is let go, and what must be told to what is parsed anew.
// The lock of the registry guards it.
type held struct {
	uses    int       // of what is parsed, by which one tells whether it was idle
	started []started // see [parsedProgram.starts]
}

// started is a function that was identified: it is called from outside of what the
// sources show.
type started struct {
	f  Function
	by Declared
}

// asks notes a use of what is parsed.
func (h *held) asks() int {
	h.uses++
	return h.uses
}

// letGoLater lets go of what is parsed when nobody has asked for it for a while. Each
// use has a timer of its own, as one that is set again belongs to who made it.
func letGoLater() {
	registry.Lock()
	defer registry.Unlock()
	use := registry.held.asks()
	time.AfterFunc(heldFor, func() { letGo(use) })
}

// letGo lets go of what is parsed if that use was the last one. What could not be
// understood stays, so that nothing is believed of it.
func letGo(use int) {
	registry.Lock()
	defer registry.Unlock()
	if registry.held.uses != use {
		return
	}
	for own, p := range registry.programs {
		if p.idle() {
			delete(registry.programs, own)
		}
	}
}

// idle reports whether nobody is at it, and nothing must be remembered of it.
func (p *parsedProgram) idle() bool {
	if !p.identifying.TryLock() {
		return false
	}
	defer p.identifying.Unlock()
	return p.broken == ""
}

// startsAgain tells a program that was just parsed which functions were identified
// before.
func (p *parsedProgram) startsAgain(all []started) {
	defer func() {
		if r := recover(); r != nil {
			p.fails(r)
		}
	}()
	for _, s := range all {
		if k := p.packages[s.f.Package]; k != nil && !k.beside {
			if r, err := k.find(s.f, s.by); err == nil {
				p.starts(r.decl)
			}
		}
	}
}

// noteStarted keeps that a function is identified, or refused, for a program that is parsed later.
func noteStarted(f Function, by Declared) {
	if f.literal() {
		return // which has no name by which it could be called otherwise
	}
	registry.Lock()
	defer registry.Unlock()
	registry.held.started = append(registry.held.started, started{f, by})
}
