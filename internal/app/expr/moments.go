package expr

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/larder-data/larder/component"
)

var methodsOf = map[kinds][]string{
	timeKind:     {"Year", "Month", "Day", "Weekday", "YearDay", "Hour", "Minute", "Second", "Unix", "UnixMilli", "Format", "In", "After", "Before", "Equal"},
	durationKind: {"Hours", "Minutes", "Seconds", "Milliseconds"},
}

func noMethods(kind, name string) string {
	return fmt.Sprintf("%s has no function %s; call functions as upper(x)", kind, strconv.Quote(name))
}

func (m *meter) method(of any, name string, args []any) any {
	k := kindOf(of)
	if !slices.Contains(methodsOf[k], name) {
		if len(methodsOf[k]) > 0 {
			fail("%s has no function %q%s", kindName(of), name, component.Suggest(name, methodsOf[k]))
		}
		fail("%s", noMethods(kindName(of), name))
	}
	takes := map[string]kinds{"Format": textKind, "In": zoneKind, "After": timeKind, "Before": timeKind, "Equal": timeKind}
	s := signature{gives: anyKind}
	if want, ok := takes[name]; ok {
		s = signature{least: 1, most: 1, takes: []kinds{want}}
	} else if len(args) > 0 {
		fail("%s takes no arguments", name)
	}
	if text := s.counts(name, len(args)); text != "" {
		fail("%s", text)
	}
	for i, a := range args {
		if text := s.accepts(name, i, kindOf(a), kindName(a)); text != "" {
			fail("%s", text)
		}
	}
	if d, ok := of.(time.Duration); ok {
		return ofDuration(d, name)
	}
	return ofTime(of.(time.Time), name, args)
}

func ofDuration(d time.Duration, name string) any {
	switch name {
	case "Hours":
		return d.Hours()
	case "Minutes":
		return d.Minutes()
	case "Seconds":
		return d.Seconds()
	}
	return int(d.Milliseconds())
}

func ofTime(t time.Time, name string, args []any) any {
	switch name {
	case "Format":
		return t.Format(args[0].(string))
	case "In":
		return t.In(args[0].(*time.Location))
	case "After":
		return t.After(args[0].(time.Time))
	case "Before":
		return t.Before(args[0].(time.Time))
	case "Equal":
		return t.Equal(args[0].(time.Time))
	case "Year":
		return t.Year()
	case "Month":
		return int(t.Month())
	case "Day":
		return t.Day()
	case "Weekday":
		return int(t.Weekday())
	case "YearDay":
		return t.YearDay()
	case "Hour":
		return t.Hour()
	case "Minute":
		return t.Minute()
	case "Second":
		return t.Second()
	case "Unix":
		return int(t.Unix())
	}
	return int(t.UnixMilli())
}

// dated creates times, durations and time zones. None depends on the machine, which is
// not part of a result's key.
func (m *meter) dated(name string, args []any) any {
	switch name {
	case "timezone":
		if args[0] == "Local" {
			fail(`the local time zone is not available, as results could not be cached; name one, such as "Europe/Paris"`)
		}
		if args[0] != "UTC" {
			m.charge(costly) // it reads a file
		}
		v, err := library(name, args)
		if err != nil {
			fail("unknown time zone %q; write one such as \"Europe/Paris\"", short(args[0].(string)))
		}
		return v
	case "duration":
		v, err := library(name, args)
		if err != nil {
			fail("%q is not a duration such as 1h30m", short(args[0].(string)))
		}
		return v
	}
	return m.date(args)
}

// date parses a time in a given format, or in a common one.
func (m *meter) date(args []any) any {
	zone := any(nil)
	if kindOf(args[0]) == zoneKind {
		zone, args = args[0], args[1:]
	}
	if len(args) == 0 {
		fail("date needs a string after the time zone")
	}
	given, ok := args[0].(string)
	switch {
	case !ok:
		fail("date needs a string, not %s", kindName(args[0]))
	case len(args) == 3 && zone != nil:
		fail("date needs one time zone, before the string or after the layout")
	case len(args) == 3:
		zone, args = m.dated("timezone", args[2:]), args[:2]
	case zone == nil:
		zone = m.dated("timezone", []any{"UTC"})
	}
	v, err := library("date", append([]any{zone}, args...))
	if err == nil {
		return v
	}
	if len(args) == 2 {
		fail("%q does not have the layout %q; a layout shows how 2006-01-02 15:04:05 is written", short(given), short(args[1].(string)))
	}
	fail("%q is not a date such as 2026-01-31", short(given))
	return nil
}
