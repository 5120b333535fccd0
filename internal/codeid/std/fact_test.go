package std_test

import (
	"go/types"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/codeid/std"
)

var effects = map[string]std.Effect{
	"reads": std.Reads, "returns": std.Returns, "writes": std.Writes, "receiver": std.Receiver, "first": std.First,
}

// expected are facts found by reading the documentation, not by the analysis: names by their expected effects.
var expected = []struct {
	effect   string // "" for any
	outside  string
	registry bool
	names    string
}{
	{effect: "reads", names: `
		strings.Contains strings.Split strings.Fields strings.Map strings.NewReplacer strings.Replacer.Replace strings.Builder.String
		strconv.Itoa strconv.ParseFloat strconv.Quote unicode.IsUpper unicode/utf8.DecodeRune unicode/utf8.ValidString
		math.Sqrt math.Exp math/bits.OnesCount errors.New errors.Is fmt.Sprint fmt.Sprintf fmt.Sprintln fmt.Println fmt.Printf
		bytes.Contains bytes.Equal bytes.Compare bytes.Index bytes.ToUpper bytes.Repeat bytes.Clone bytes.Buffer.Len bytes.Buffer.String
		slices.Contains slices.Index slices.Equal slices.Compare slices.BinarySearch slices.IsSorted maps.Equal
		sort.Search sort.SearchInts sort.SliceIsSorted sort.StringsAreSorted
		encoding/json.Marshal encoding/json.MarshalIndent encoding/json.Valid reflect.DeepEqual reflect.TypeOf reflect.Value.Int
		regexp.MustCompile regexp.MatchString regexp.Regexp.MatchString regexp.Regexp.FindString regexp.Regexp.FindAllString regexp.Regexp.ReplaceAllString
		math/big.NewInt math/big.Int.Cmp math/big.Int.Sign math/big.Int.String math/big.Int.Int64 math/big.Float.Text math/big.Rat.Cmp
		sync/atomic.Int64.Load sync/atomic.LoadInt32 net/url.Parse net/url.URL.String net/url.Values.Encode net/netip.ParseAddr net.ParseIP
		time.Date time.Time.UTC time.Time.Format time.Time.Sub time.Time.Equal time.Time.Hour time.Time.MarshalJSON time.Duration.String time.Unix time.Sleep
		image.NewRGBA image.RGBA.At image.RGBA.Bounds image.Image.At image.Rect image/color.RGBA.RGBA
		encoding/binary.bigEndian.Uint32 encoding/binary.ByteOrder.Uint16 encoding/hex.EncodeToString encoding/base64.Encoding.EncodeToString
		crypto/sha256.Sum256 crypto/sha256.New crypto/md5.Sum hash/crc32.ChecksumIEEE hash/fnv.New64a
		path/filepath.Join path.Clean html.EscapeString mime.ParseMediaType go/token.NewFileSet embed.FS.ReadFile os.IsNotExist
		sync.Mutex.Lock sync.Pool.Get log.Printf log/slog.Info io/fs.FileInfo.Size context.Background math/rand.NewSource math/rand/v2.NewPCG
		runtime.GC runtime.KeepAlive error.Error fmt.Stringer.String sort.Interface.Less`},
	{effect: "returns", names: `
		bytes.TrimSpace bytes.Trim bytes.Split bytes.Fields bytes.NewReader bytes.NewBuffer bytes.Buffer.Bytes
		slices.All slices.Values slices.Max slices.Min slices.Clone maps.Values maps.All maps.Keys maps.Clone
		sync.Map.Load sync.Map.Range sync/atomic.Pointer.Load bufio.NewScanner bufio.NewReader io.LimitReader io.NopCloser io.TeeReader
		errors.Unwrap errors.Join fmt.Errorf container/list.List.Front reflect.Value.Field reflect.Value.Interface encoding/json.NewDecoder
		math/rand.New image.RGBA.SubImage math/big.Int.Bits regexp.Regexp.Find regexp.Regexp.ReplaceAll text/template.Must
		slices.ContainsFunc slices.IndexFunc sort.Reverse net/http.NewRequest`},
	{effect: "receiver", names: `
		math/big.Int.Add math/big.Int.Mul math/big.Int.Set math/big.Rat.SetString math/big.Float.Quo bytes.Buffer.WriteString bytes.Buffer.Write
		bytes.Buffer.Reset bytes.Buffer.ReadByte strings.Builder.WriteString sync/atomic.Int64.Add sync/atomic.Int64.Store sync/atomic.Bool.CompareAndSwap
		math/rand.Rand.Intn math/rand/v2.Rand.IntN math/rand/v2.PCG.Uint64 bufio.Scanner.Scan bufio.Reader.ReadString image.RGBA.Set image.Gray.SetGray
		sort.IntSlice.Swap text/template.Template.Parse reflect.Value.SetInt net/url.Values.Set io.Writer.Write io.Closer.Close`},
	{effect: "first", names: `
		sort.Strings sort.Ints sort.Slice slices.Sort slices.SortFunc slices.Reverse fmt.Fprintf fmt.Fprintln fmt.Appendf strconv.AppendInt
		encoding/hex.Encode encoding/binary.bigEndian.PutUint32 encoding/binary.ByteOrder.PutUint64 text/template.Template.Execute html/template.Template.Execute
		image/draw.Draw image/png.Encode image/jpeg.Encode image/png.Decode io.ReadAll io.WriteString container/heap.Pop math/big.Int.Append`},
	{effect: "writes", names: `
		encoding/json.Unmarshal encoding/json.Decoder.Decode encoding/xml.Unmarshal errors.As maps.Copy reflect.ValueOf sync.Map.Store sync.Map.LoadOrStore
		sync/atomic.AddInt64 sync/atomic.StoreInt32 sync/atomic.Value.Store container/list.List.PushBack container/heap.Push io.Copy io.Reader.Read
		bytes.Buffer.Read bytes.Buffer.WriteTo slices.Insert log.New log.SetOutput log/slog.New sync.Pool.Put math/big.Int.DivMod
		text/template.Template.Funcs fmt.Sscan time.Time.UnmarshalJSON bufio.Reader.Reset`},
	{outside: "the clock", names: `
		time.Now time.Since time.Until time.After time.Tick time.NewTimer time.NewTicker time.AfterFunc time.Timer.Stop
		context.WithTimeout context.WithDeadline context.WithTimeoutCause context.Context.Deadline`},
	{outside: "random numbers", names: `
		math/rand.Intn math/rand.Float64 math/rand.Perm math/rand.Shuffle math/rand/v2.IntN math/rand/v2.N math/rand/v2.Float64
		crypto/rand.Read crypto/rand.Int crypto/rand.Reader crypto/rand.Text crypto/rsa.GenerateKey crypto/ed25519.GenerateKey
		crypto/ecdsa.SignASN1 crypto/cipher.NewGCMWithRandomNonce`},
	{outside: "a random seed", names: `hash/maphash.MakeSeed hash/maphash.String hash/maphash.Bytes hash/maphash.Comparable hash/maphash.Hash.Sum64`},
	{outside: "the environment", names: `os.Getenv os.LookupEnv os.Environ os.ExpandEnv os.TempDir net/http.ProxyFromEnvironment`},
	{outside: "the file system", names: `
		os.Open os.ReadFile os.ReadDir os.Stat os.Lstat os.DirFS os.Create os.WriteFile os.MkdirTemp os.File.Read os.File.Stat os.File.ReadAt os.Readlink
		path/filepath.Glob path/filepath.WalkDir path/filepath.Walk path/filepath.EvalSymlinks io/ioutil.ReadFile io/ioutil.ReadDir
		text/template.ParseFiles text/template.ParseGlob html/template.ParseFiles html/template.Template.ParseGlob
		go/parser.ParseFile go/parser.ParseDir go/build.Import archive/zip.OpenReader debug/elf.Open debug/pe.Open crypto/tls.LoadX509KeyPair`},
	{outside: "the working directory", names: `os.Getwd path/filepath.Abs`},
	{outside: "the command line", names: `os.Args flag.Parse flag.String flag.CommandLine flag.Arg`},
	{outside: "standard input", names: `os.Stdin fmt.Scan fmt.Scanln fmt.Scanf`},
	{outside: "the machine", names: `runtime.NumCPU runtime.GOMAXPROCS runtime.NumGoroutine runtime.ReadMemStats runtime/debug.SetGCPercent runtime/metrics.Read os.Hostname net.InterfaceAddrs`},
	{outside: "the call stack", names: `runtime.Caller runtime.Callers runtime.Stack runtime.FuncForPC`},
	{outside: "the garbage collector", names: `runtime.SetFinalizer runtime.AddCleanup weak.Make weak.Pointer.Value`},
	{outside: "its place in memory", names: `reflect.Value.Pointer reflect.Value.UnsafePointer reflect.Value.UnsafeAddr`},
	{outside: "the build", names: `runtime/debug.ReadBuildInfo`},
	{outside: "the network", names: `net.Dial net.Listen net.LookupHost net/http.Get net/http.Client.Do net/http.ListenAndServe net/smtp.SendMail`},
	{outside: "another program", names: `os/exec.Command os/exec.Cmd.Output os.StartProcess`},
	{outside: "the user", names: `os/user.Current os.Getuid os.UserHomeDir os.UserCacheDir`},
	{outside: "the user", names: `archive/tar.Writer.AddFS`},
	{outside: "the process", names: `os.Getpid`},
	{outside: "the system", names: `os/signal.Notify syscall.Read`},
	{outside: "the system's tables of types", names: `mime.TypeByExtension mime.ExtensionsByType`},
	{outside: "the system's time zones", names: `time.LoadLocation`},
	{outside: "the system's certificates", names: `crypto/x509.SystemCertPool crypto/x509.Certificate.Verify`},
	{outside: "values of the context", names: `context.Context.Value`},
	{outside: "code that is not in the program", names: `plugin.Open`},
	{outside: "what was done to its receiver", names: `regexp.Regexp.Longest sync.Mutex.TryLock log.Logger.Prefix`},
	{outside: "a database", registry: true, names: `database/sql.Open`},
	{registry: true, names: `image.Decode image.DecodeConfig image.RegisterFormat crypto.Hash.New crypto.Hash.Available encoding/gob.Register encoding/gob.Decoder.Decode`},
}

func TestFacts(t *testing.T) {
	n := 0
	for _, e := range expected {
		for name := range strings.FieldsSeq(e.names) {
			n++
			f, ok := std.Lookup(name)
			switch {
			case !ok:
				t.Errorf("%s is not known", name)
			case f.Outside != e.outside:
				t.Errorf("%s depends on %q, not on %q", name, f.Outside, e.outside)
			case e.effect != "" && f.Effect != effects[e.effect]:
				t.Errorf("%s: effect is %d, not %s", name, f.Effect, e.effect)
			case f.Registry != e.registry:
				t.Errorf("%s: registry is %v", name, f.Registry)
			}
		}
	}
	if n < 350 {
		t.Errorf("%d names", n)
	}
}

// TestPackagesOfTheOutside checks a list made by hand before the analysis existed: packages in which all but some names
// depend on external state.
func TestPackagesOfTheOutside(t *testing.T) {
	for path, but := range map[string]string{
		"crypto/rand": "", "os/signal": "", "os/user": "Error", "plugin": "", "runtime/metrics": "", "net/smtp": "Error PlainAuth CRAMMD5Auth",
		"log/syslog": "", "expvar": "", "net/http/cgi": "", "net/rpc": "",
	} {
		p, err := std.New().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, name := range p.Scope().Names() {
			f, ok := p.Scope().Lookup(name).(*types.Func)
			if !ok || !f.Exported() || strings.Contains(but, name) {
				continue
			}
			n++
			if fact, ok := std.Lookup(path + "." + name); ok && fact.Outside == "" {
				t.Errorf("%s.%s depends on nothing", path, name)
			}
		}
		if n == 0 {
			t.Errorf("%s has no functions", path)
		}
	}
}

// TestPackagesThatOnlyCompute checks that most functions that depend only on their operands are known to.
func TestPackagesThatOnlyCompute(t *testing.T) {
	for path := range strings.FieldsSeq(`archive/tar bufio bytes cmp compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib
		container/heap container/list container/ring encoding encoding/ascii85 encoding/asn1 encoding/base32 encoding/base64 encoding/binary
		encoding/csv encoding/gob encoding/hex encoding/json encoding/pem encoding/xml errors fmt go/ast go/build/constraint go/constant
		go/doc go/doc/comment go/format go/printer go/scanner go/token go/types go/version hash hash/adler32 hash/crc32 hash/crc64 hash/fnv
		html image image/color image/draw image/gif image/jpeg image/png index/suffixarray io iter maps math math/big math/bits math/cmplx
		mime/multipart mime/quotedprintable net/mail net/netip net/textproto net/url path regexp regexp/syntax slices sort strconv strings
		sync sync/atomic testing/fstest text/scanner text/tabwriter text/template/parse unicode unicode/utf16 unicode/utf8 unique
		crypto/aes crypto/des crypto/hmac crypto/md5 crypto/sha1 crypto/sha256 crypto/sha512 crypto/subtle`) {
		p, err := std.New().Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			f, ok := p.Scope().Lookup(name).(*types.Func)
			if !ok || !f.Exported() {
				continue
			}
			name = path + "." + name
			fact, ok := std.Lookup(name)
			if want := outsideOfComputing[name]; !ok || fact.Outside != want {
				t.Errorf("%s depends on %q (known: %v), not on %q", name, fact.Outside, ok, want)
			}
		}
	}
}

// outsideOfComputing are the exceptions in packages that only compute.
var outsideOfComputing = map[string]string{
	"fmt.Scan": "standard input", "fmt.Scanf": "standard input", "fmt.Scanln": "standard input",
	"mime/multipart.NewWriter":   "random numbers", // its boundary
	"net/textproto.Dial":         "the network",
	"archive/tar.FileInfoHeader": "the user",
}

func TestNamesThatAreNotKnown(t *testing.T) {
	for _, name := range []string{
		"", " ", "strings", "strings.", "strings.contains", "strings.Contains ", "strings.Contains reads", "strings.Containss", ".", "~", "\xff", "a", "zzz.Z",
		"strings.Builder", "sync.Mutex", "*strings.Builder.String", "fmt.Println\nfmt.Print", "; the clock", "example.com/strings.Contains",
	} {
		if f, ok := std.Lookup(name); ok || f != (std.Fact{}) {
			t.Errorf("%q: got %+v, %v", name, f, ok)
		}
		if std.ShowsZone(name) {
			t.Errorf("%q shows the zone", name)
		}
	}
}

func TestShowsZone(t *testing.T) {
	for name, want := range map[string]bool{
		"time.Local": true, "time.Unix": true, "time.UnixMilli": true, "time.UnixMicro": true, "time.Time.Local": true,
		"time.Parse": true, "time.Time.UnmarshalJSON": true, "time.Time.UnmarshalBinary": true,
		"archive/tar.Reader.Next": true,
		"time.Time.UTC":           false, "time.Time.Format": false, "time.Date": false, "time.ParseInLocation": false, "time.UTC": false, "time.Time.Add": false, "time.ParseDuration": false,
		"strings.Contains": false, "fmt.Sprint": false, "encoding/json.Marshal": false, "log.Print": false,
	} {
		if got := std.ShowsZone(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestHarmless(t *testing.T) {
	for name, want := range map[string]bool{
		"sync.Mutex": true, "sync.RWMutex": true, "sync.Pool": true, "sync.WaitGroup": true, "sync.Once": true, "sync.Cond": true,
		"regexp.Regexp": true, "errors.errorString": true, "log.Logger": true, "log/slog.Logger": true, "strings.Replacer": true,
		"time.Location": true, "encoding/base64.Encoding": true, "embed.FS": true,
		"sync.Map": false, "sync/atomic.Int64": false, "sync/atomic.Value": false, "bytes.Buffer": false, "strings.Builder": false,
		"math/big.Int": false, "math/rand.Rand": false, "time.Timer": false, "text/template.Template": false, "os.File": false,
		"bufio.Scanner": false, "time.Time": false, "strings.Contains": false, "": false,
	} {
		if got := std.Harmless(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add("strings.Contains")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, name string) {
		fact, ok := std.Lookup(name)
		if !ok && fact != (std.Fact{}) {
			t.Errorf("%q is not known: %+v", name, fact)
		}
		if ok && !strings.Contains(name, ".") {
			t.Errorf("%q is known", name)
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		std.Lookup("net/http.Header.Get")
	}
}

// TestNumbers checks that functions that only write numbers are known to, and no others.
func TestNumbers(t *testing.T) {
	for name, want := range map[string]bool{
		"image.Paletted.Set": true, "image.Paletted.SetColorIndex": true, "image.RGBA.SetRGBA": true, "bufio.Reader.UnreadByte": true, "sort.IntSlice.Swap": true,
		"encoding/binary.PutUvarint": true, "sort.StringSlice.Swap": false, "bytes.Buffer.Write": false, "net/url.Values.Set": false,
		"reflect.Value.SetInt": false, "reflect.Value.Set": false, "sync/atomic.StoreUintptr": false, "encoding/json.Unmarshal": false, "encoding/binary.Read": false,
		"container/list.List.PushBack": false, "image.Paletted.At": false, "strings.Contains": false, "slices.Reverse": false, "crypto/rsa.GenerateKey": false,
	} {
		if f, ok := std.Lookup(name); !ok || f.Numbers != want {
			t.Errorf("%s: %v, known: %v", name, f.Numbers, ok)
		}
	}
}
