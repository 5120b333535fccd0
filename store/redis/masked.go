package redis

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxErrorText is how many bytes of an error are shown.
const maxErrorText = 200

// secrets returns a replacer that removes user and password from strings, in all their
// spellings.
func secrets(user, password string) *strings.Replacer {
	var pairs []string
	for _, secret := range []string{password, user} {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if form != "" && form != "default" { // the user of clients that name none
				pairs = append(pairs, form, "***")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// maskedError is an error that is safe to show, whatever the server writes in it.
type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.error }

// masked returns a short error without secrets, scripts and bytes of keys in its text.
func (s *Store) masked(err error) error {
	text, _, _ := strings.Cut(err.Error(), ", with args beginning with") // the command
	if before, _, ok := strings.Cut(text, " script: "); ok {
		text = before
	}
	text = s.secrets.Replace(text)
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	if quoted := strconv.Quote(text); strings.Contains(quoted, `\x`) || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		text = quoted
	}
	return maskedError{err, text}
}

const (
	slow      = 100 * time.Millisecond // for an answer
	tooSlow   = time.Second
	manyTimes = 16 // answers after which the mean is meaningful
)

// took records the duration of an answer. It warns once if answers are slow, and stops the
// use of a server for a while whose answers take more than a second.
func (s *Store) took(d time.Duration) {
	mean := s.mean.Load()
	mean += (int64(d) - mean) / manyTimes
	s.mean.Store(mean) // a lost concurrent update is harmless
	if s.answers.Add(1) <= manyTimes {
		return
	}
	each := time.Duration(mean).Round(time.Millisecond)
	if mean > int64(tooSlow) {
		s.mean.Store(0)
		s.answers.Store(0)
		s.lose(fmt.Errorf("its replies take %v each", each))
	} else if mean > int64(slow) && s.slowReported.CompareAndSwap(false, true) {
		s.log.Warn("redis: the shared store is slow; do not share results that take less time to compute", "server", s.shown, "each reply", each)
	}
}

// damaged logs a damaged record: the first, the tenth, the hundredth. The record stays
// until it is put again or evicted: another process may have just replaced it.
func (s *Store) damaged(what any, err error) {
	n := s.damages.Add(1)
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	if n == 1 {
		s.log.Warn("redis: a damaged record is ignored and computed again", "server", s.shown, "key", what, "times so far", s.damages.Load(), "error", err)
	}
}

// sayDamages logs the total at the end.
func (s *Store) sayDamages() {
	if n := s.damages.Swap(0); n > 1 {
		s.log.Warn("redis: damaged records were ignored", "server", s.shown, "times", n)
	}
}
