package std

import (
	_ "embed"
	"sort"
	"strings"
	"sync"
)

// A Fact describes what a function or method does beyond computing with its operands
// (receiver and arguments), or what a variable depends on.
//
// It covers only what the function does itself, not what it calls through its operands
// (functions, methods of interfaces): the code that made these covers that. So reading from
// a reader argument is not a read of the outside; opening the file was.
type Fact struct {
	// Outside names what the result depends on outside of the program's code and the
	// operands: "the clock", "the file system" ...; "" for nothing. Output and waiting do
	// not count.
	Outside string
	// Effect is the effect on the memory that the operands refer to. For a variable, it is
	// what can be done to the memory of its value: Reads if that cannot be written.
	Effect Effect
	// Numbers reports that the function writes only numbers to operands' memory (booleans,
	// and arrays and structs of numbers, too), and retains it only in its results.
	Numbers bool
	// Registry reports that the result depends on what the program registers with the
	// package (image.Decode, gob.Register, sql.Open).
	Registry bool
}

// An Effect is what a function does to the memory that its operands refer to. Immutable
// values such as strings do not count as memory.
//
// A function argument (less of sort.Slice, a yield) that receives memory of the other
// operands counts as one of the results.
type Effect uint8

const (
	Writes   Effect = iota // may write to any operand's memory, or retain it: the default
	Reads                  // writes to and retains no operand, and no result refers to their memory
	Returns                // like Reads, but results may refer to operands' memory
	Receiver               // of a method: writes only to its receiver's memory, to which results may refer; only reads the other operands
	First                  // the same for its first argument; only reads the receiver (sort.Strings, fmt.Fprint, binary.ByteOrder.PutUint16)
)

// facts has one fact per line, sorted: a name, its words, and after a semicolon what it
// depends on outside.
//
//go:embed facts.txt
var facts string

// Lookup returns the fact about a function ("strings.Contains"), a method by its declared
// receiver ("time.Time.Local", without a star for pointers), a method of an interface
// ("io.Reader.Read") or a variable ("os.Args"). It returns false for unknown names, which
// may depend on anything, and write to anything.
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

// ShowsZone reports whether the function, method or variable makes times in the zone of the
// machine, or names it: its result depends on TZ and /etc/localtime, except for the
// instant. Lookup ignores that.
func ShowsZone(name string) bool { return has(name, "zone") }

// Harmless reports whether results of computations are independent of earlier uses of
// shared values of a type ("sync.Mutex", "regexp.Regexp", "errors.errorString"): immutable
// values, locks, pools, loggers.
func Harmless(typ string) bool { return has(typ, "harmless") }

// has reports whether the line of a name contains the word.
func has(name, word string) bool {
	words, _, _ := line(name)
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// HasMethod reports whether a known type of the library has an exported method with a name.
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

// Revealing lists the types with a method of a name that reveals earlier operations on the
// value, or depends on a random seed. Calls of it are refused, also through interfaces.
func Revealing(method string) []string { return revealing()[method] }

var revealing = sync.OnceValue(func() map[string][]string {
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

// receiverState is the dependency of functions that reveal it.
const receiverState = "what was done to its receiver"

// line finds the fact about a name.
func line(name string) (words, outside string, ok bool) {
	if name == "" || strings.ContainsAny(name, " \n;") {
		return "", "", false
	}
	// A space sorts before all characters of names, so lines are in the order of their
	// names.
	want := name + " "
	at := sort.Search(len(facts), func(i int) bool { return lineAt(i) >= want })
	rest, ok := strings.CutPrefix(lineAt(at), want)
	if !ok {
		return "", "", false
	}
	words, outside, _ = strings.Cut(rest, "; ")
	return words, outside, true
}

// lineAt returns the first line that begins at or after offset i.
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
