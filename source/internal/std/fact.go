package std

import (
	_ "embed"
	"sort"
	"strings"
	"sync"
)

// A Fact says what a function or method does beyond computing with its operands
// (receiver and arguments), or what a variable depends on.
//
// It speaks of what the function does itself. What it calls through its operands
// (functions, methods of interfaces) is not in it: who made these has to know.
// So reading from a reader that is passed in is no reading of the outside;
// opening the file was.
type Fact struct {
	// Outside is what its result depends on of the world outside of the
	// program's code and its operands: "the clock", "the file system" ...; "" for
	// nothing. Output counts for nothing, and so does waiting.
	Outside string
	// Effect is what it does to the memory that its operands refer to. For a
	// variable, it is what can be done to the memory that its value refers to:
	// Reads if nothing can write there.
	Effect Effect
	// Numbers is set where all that it writes to operands' memory are numbers
	// (booleans, and arrays and structs of numbers, too), of which it keeps nothing
	// but in what it returns.
	Numbers bool
	// Registry is set where the result depends on what the program registered
	// with the package, or registers (image.Decode, gob.Register, sql.Open).
	Registry bool
}

// An Effect is what a function does to the memory that its operands refer to.
// Strings, and other values that cannot be changed, do not count as memory.
//
// A function that is passed in (less of sort.Slice, a yield) and is handed memory
// of the other operands counts as one of the results.
type Effect uint8

const (
	Writes   Effect = iota // it may write to any operand's memory, or keep it: what is not known otherwise
	Reads                  // it writes to no operand and keeps none, and no result refers to their memory
	Returns                // as Reads, but results may refer to operands' memory
	Receiver               // of a method: it writes to its receiver's memory only; results may refer to that, the other operands are only read
	First                  // the same of its first argument, the receiver being only read (sort.Strings, fmt.Fprint, binary.ByteOrder.PutUint16)
)

// The facts, one line each, sorted: a name, what there is to say, and after a
// semicolon what it depends on outside.
//
//go:embed facts.txt
var facts string

// Lookup says what is known of a function ("strings.Contains"), a method by its
// declared receiver ("time.Time.Local", without a star for pointers), a method of
// an interface ("io.Reader.Read") or a variable ("os.Args"). It returns false for
// what is not known: that may depend on anything, and write to anything.
func Lookup(name string) (Fact, bool) {
	words, outside, ok := line(name)
	if !ok {
		return Fact{}, false
	}
	f := Fact{Outside: outside}
	known := false
	for word := range strings.FieldsSeq(words) {
		switch word {
		case "writes":
			known = true
		case "reads":
			f.Effect, known = Reads, true
		case "returns":
			f.Effect, known = Returns, true
		case "receiver":
			f.Effect, known = Receiver, true
		case "first":
			f.Effect, known = First, true
		case "numbers":
			f.Numbers = true
		case "registry":
			f.Registry = true
		}
	}
	return f, known
}

// ShowsZone reports whether the function, method or variable makes times in the
// zone of the machine, or names it: its result depends on TZ and /etc/localtime
// as soon as more is looked at than the instant. Lookup counts that for nothing.
func ShowsZone(name string) bool { return has(name, "zone") }

// Harmless reports whether all uses of shared values of a type ("sync.Mutex",
// "regexp.Regexp", "errors.errorString") leave results of computations
// independent of what was done to them before: values that cannot change, locks,
// pools, loggers.
func Harmless(typ string) bool { return has(typ, "harmless") }

// has reports whether the line of a name has the word.
func has(name, word string) bool {
	words, _, _ := line(name)
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// HasMethod reports whether a type of the library that is known has a method of a
// name, which is exported.
func HasMethod(name string) bool { return methods()[name] }

var methods = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(facts) {
		name, _, _ := strings.Cut(line, " ")
		name = name[strings.LastIndexByte(name, '/')+1:]
		if parts := strings.Split(name, "."); len(parts) == 3 { // package, type, method
			all[parts[2]] = true
		}
	}
	return all
})

// Telling lists the types with a method of a name that tells what was done to the
// value before, or depends on a random seed: to call it is refused, by an interface
// too.
func Telling(method string) []string { return telling()[method] }

var telling = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{"Do": {"sync.Once"}, "Get": {"sync.Pool"}, "SetOutput": {"log.Logger"}}
	for line := range strings.Lines(facts) {
		line = strings.TrimSuffix(line, "\n")
		name, rest, _ := strings.Cut(line, " ")
		_, outside, _ := strings.Cut(rest, "; ")
		at := strings.LastIndexByte(name, '.')
		if short := name[strings.LastIndexByte(name, '/')+1:]; strings.Count(short, ".") != 2 || outside != receiverState && outside != "a random seed" {
			continue
		}
		all[name[at+1:]] = append(all[name[at+1:]], name[:at])
	}
	return all
})

// receiverState is what functions depend on that tell of it.
const receiverState = "what was done to its receiver"

// line finds what the facts say of a name.
func line(name string) (words, outside string, ok bool) {
	if name == "" || strings.ContainsAny(name, " \n;") {
		return "", "", false
	}
	// A space sorts before all that names are made of, so lines are in the order
	// of their names.
	want := name + " "
	at := sort.Search(len(facts), func(i int) bool { return lineAt(i) >= want })
	rest, ok := strings.CutPrefix(lineAt(at), want)
	if !ok {
		return "", "", false
	}
	words, outside, _ = strings.Cut(rest, "; ")
	return words, outside, true
}

// lineAt returns the first line that begins at or after the given place.
func lineAt(i int) string {
	if i > 0 {
		n := strings.IndexByte(facts[i-1:], '\n')
		if n < 0 {
			return "\xff" // after all lines
		}
		i += n
	}
	s, _, _ := strings.Cut(facts[i:], "\n")
	if s == "" {
		return "\xff"
	}
	return s
}
