package analysis

import "time"

// heldFor is how long the sources of a program stay parsed after the last use: they are
// tens of megabytes of small objects, which slow down every garbage collection.
const heldFor = time.Second

// held determines when parsed sources are released, and what a later parse must know. The
// lock of the registry guards it.
type held struct {
	uses    int       // of the parsed sources; shows whether they were idle
	started []started // see [parsedProgram.starts]
}

// started is an identified function: unseen code calls it.
type started struct {
	f  Function
	by Declared
}

// asks records a use of the parsed sources.
func (h *held) asks() int {
	h.uses++
	return h.uses
}

// letGoLater releases the parsed sources after a time without use. Each use has its own
// timer, because a reset timer belongs to its creator.
func letGoLater() {
	registry.Lock()
	defer registry.Unlock()
	use := registry.held.asks()
	time.AfterFunc(heldFor, func() { letGo(use) })
}

// letGo releases the parsed sources if the use with that number was the last one. A program
// whose analysis failed stays, so that it is not trusted later.
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

// idle reports whether the program is unused and need not be remembered.
func (p *parsedProgram) idle() bool {
	if !p.identifying.TryLock() {
		return false
	}
	defer p.identifying.Unlock()
	return p.broken == ""
}

// startsAgain passes the functions identified before to a newly parsed program.
func (p *parsedProgram) startsAgain(all []started) {
	defer func() {
		if r := recover(); r != nil {
			p.fails(r)
		}
	}()
	for _, s := range all {
		if k := p.packages[s.f.Package]; k != nil && !k.also {
			if r, err := k.find(s.f, s.by); err == nil {
				p.starts(r.decl)
			}
		}
	}
}

// noteStarted records that a function was identified or refused, for later parses.
func noteStarted(f Function, by Declared) {
	if f.literal() {
		return // it has no name by which other code could call it
	}
	registry.Lock()
	defer registry.Unlock()
	registry.held.started = append(registry.held.started, started{f, by})
}
