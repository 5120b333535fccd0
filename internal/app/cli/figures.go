package cli

import (
	"fmt"
	"strings"
	"time"
)

// count formats a count, with a dot for zero, so that other values stand out.
func count(n int64) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}

// size formats a number of bytes, with zero as in count.
func size(n int64) string {
	switch {
	case n == 0:
		return "."
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
}

// bytesOf is size for use in a sentence.
func bytesOf(n int64) string {
	if n == 0 {
		return "0 B"
	}
	return size(n)
}

// recordsOf formats a number of records and their size.
func recordsOf(n, bytes int64) string {
	return fmt.Sprintf("%d %s (%s)", n, plural(n, "record"), bytesOf(bytes))
}

// seconds formats a duration with about three digits.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%dµs", d/time.Microsecond)
	}
}

// secondsOrDot is seconds, with zero as in count.
func secondsOrDot(s float64) string {
	if s == 0 {
		return "."
	}
	return seconds(s)
}

// brief formats a duration that may be very short.
func brief(s float64) string {
	if s < 1e-6 {
		return fmt.Sprintf("%.0fns", s*1e9)
	}
	return seconds(s)
}

// clock formats a duration to the second, or to the minute if it is long.
func clock(d time.Duration) string {
	switch {
	case d > 1000*time.Hour:
		return "long"
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}

// ago formats the time since t in its largest unit.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "."
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return "<1m"
	}
}

func perTime(perSecond float64) string {
	switch {
	case perSecond >= 10:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 0.5:
		return fmt.Sprintf("%.1f/s", perSecond)
	case perSecond*60 >= 0.5:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	default:
		return fmt.Sprintf("%.1f/h", perSecond*3600)
	}
}

// plural returns the noun for n things: singular or plural.
func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func ifElse(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
