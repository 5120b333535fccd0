package source

import "strings"

// What the standard library does beyond its arguments, package by package:
// written by hand, from its documentation. A package that is not named here is
// not known, and refused like any other.

// purity says what a package does.
type purity struct {
	impure string            // what all of it reaches, "" for nothing
	but    map[string]string // exceptions: what a name reaches, "" for nothing
}

// standard maps the packages of the standard library to what they do.
var standard = func() map[string]purity {
	m := map[string]purity{}
	for _, path := range strings.Fields(purePackages) {
		m[path] = purity{}
	}
	for path, names := range impureNames {
		but := map[string]string{}
		for what, list := range names {
			for _, name := range strings.Fields(list) {
				but[name] = what
			}
		}
		m[path] = purity{but: but}
	}
	for path, p := range impurePackages {
		but := map[string]string{}
		for _, name := range strings.Fields(p.but) {
			but[name] = ""
		}
		m[path] = purity{impure: p.what, but: but}
	}
	return m
}()

// purePackages depend on their arguments alone, or only speak (logs, output).
const purePackages = `
archive/tar bufio builtin bytes cmp compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib
container/heap container/list container/ring
crypto crypto/aes crypto/des crypto/hkdf crypto/hmac crypto/md5 crypto/pbkdf2 crypto/rc4 crypto/sha1 crypto/sha256 crypto/sha3 crypto/sha512 crypto/subtle
debug/dwarf embed encoding encoding/ascii85 encoding/asn1 encoding/base32 encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex
encoding/json encoding/json/jsontext encoding/json/v2 encoding/pem encoding/xml errors
fmt go/ast go/build/constraint go/constant go/doc go/doc/comment go/format go/printer go/scanner go/token go/types go/version
hash hash/adler32 hash/crc32 hash/crc64 hash/fnv html image image/color image/color/palette image/draw image/gif image/jpeg image/png
index/suffixarray io io/fs iter log log/slog maps math math/big math/bits math/cmplx mime/multipart mime/quotedprintable
net/mail net/netip net/textproto net/url path reflect regexp regexp/syntax slices sort strconv strings structs sync sync/atomic
testing testing/fstest testing/iotest text/scanner text/tabwriter text/template/parse unicode unicode/utf16 unicode/utf8 unique weak`

// impureNames are packages of which only some names are impure.
var impureNames = map[string]map[string]string{
	"archive/zip":   {"the file system": "OpenReader"},
	"context":       {"the clock": "WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause"},
	"crypto/cipher": {"random numbers": "NewGCMWithRandomNonce"},
	"debug/elf":     {"the file system": "Open"},
	"fmt":           {"standard input": "Scan Scanf Scanln"},
	"go/parser":     {"the file system": "ParseDir"},
	"html/template": {"the file system": "ParseFiles ParseGlob"},
	"text/template": {"the file system": "ParseFiles ParseGlob"},
	"hash/maphash":  {"a random seed": "MakeSeed String Bytes Comparable WriteComparable Hash"},
	"io/ioutil":     {"the file system": "ReadDir ReadFile TempDir TempFile WriteFile"},
	"math/rand":     {"random numbers": "ExpFloat64 Float32 Float64 Int Int31 Int31n Int63 Int63n Intn NormFloat64 Perm Read Seed Shuffle Uint32 Uint64"},
	"math/rand/v2":  {"random numbers": "ExpFloat64 Float32 Float64 Int Int32 Int32N Int64 Int64N IntN N NormFloat64 Perm Shuffle Uint Uint32 Uint32N Uint64 Uint64N UintN"},
	"path/filepath": {"the file system": "Abs EvalSymlinks Glob Walk WalkDir"},
	"runtime": {
		"the machine":         "NumCPU GOMAXPROCS NumGoroutine NumCgoCall MemStats ReadMemStats MemProfile BlockProfile MutexProfile ThreadCreateProfile GoroutineProfile GOROOT Version CPUProfile",
		"its place in memory": "Caller Callers CallersFrames FuncForPC Stack SetFinalizer AddCleanup",
	},
	"time": {
		"the clock":     "Now Since Until After Tick NewTimer NewTicker AfterFunc",
		"the time zone": "Local LoadLocation Unix UnixMilli UnixMicro",
	},
	"unsafe": {"memory without types": "Pointer Slice SliceData String StringData Add"},
}

type impurePackage struct{ what, but string }

// impurePackages are packages of which all names are impure but some.
var impurePackages = map[string]impurePackage{
	"crypto/dsa":         {"random numbers", ""},
	"crypto/ecdh":        {"random numbers", ""},
	"crypto/ecdsa":       {"random numbers", "Verify VerifyASN1 PublicKey"},
	"crypto/ed25519":     {"random numbers", "Verify Sign PublicKey PrivateKey NewKeyFromSeed"},
	"crypto/elliptic":    {"random numbers", ""},
	"crypto/rand":        {"random numbers", ""},
	"crypto/rsa":         {"random numbers", ""},
	"crypto/tls":         {"the network", ""},
	"crypto/x509":        {"the system's certificates", ""},
	"database/sql":       {"a database", ""},
	"debug/buildinfo":    {"the file system", ""},
	"expvar":             {"the program's state", ""},
	"flag":               {"the command line", ""},
	"go/build":           {"the file system", ""},
	"go/importer":        {"the file system", ""},
	"log/syslog":         {"the network", ""},
	"mime":               {"the system's tables of types", "FormatMediaType ParseMediaType WordDecoder WordEncoder BEncoding QEncoding"},
	"net":                {"the network", "IP IPMask IPNet ParseIP ParseCIDR ParseMAC JoinHostPort SplitHostPort CIDRMask IPv4 IPv4Mask HardwareAddr"},
	"net/http":           {"the network", "StatusText DetectContentType CanonicalHeaderKey Header"},
	"net/http/cgi":       {"the network", ""},
	"net/http/cookiejar": {"the network", ""},
	"net/http/httptest":  {"the network", ""},
	"net/http/httputil":  {"the network", ""},
	"net/rpc":            {"the network", ""},
	"net/smtp":           {"the network", ""},
	"os":                 {"the system (files, environment)", "ErrInvalid ErrPermission ErrExist ErrNotExist ErrClosed PathError LinkError SyscallError FileMode FileInfo DirEntry ModePerm ModeDir ModeType Stdout Stderr Exit IsNotExist IsExist IsPermission O_RDONLY O_WRONLY O_RDWR O_APPEND O_CREATE O_EXCL O_TRUNC PathSeparator PathListSeparator"},
	"os/exec":            {"another program", ""},
	"os/signal":          {"the system", ""},
	"os/user":            {"the system", ""},
	"plugin":             {"code that is not in the program", ""},
	"runtime/cgo":        {"code that is not Go", ""},
	"runtime/debug":      {"the machine", "FreeOSMemory PrintStack SetGCPercent SetMemoryLimit"},
	"runtime/metrics":    {"the machine", ""},
	"runtime/pprof":      {"the machine", "Do Labels WithLabels SetGoroutineLabels"},
	"runtime/trace":      {"the machine", "WithRegion StartRegion Log Logf NewTask"},
	"syscall":            {"the system", "Errno ENOENT EINVAL ENOSPC"},
	"testing/quick":      {"random numbers", ""},
}

// trusted are Larder's own packages that functions may call: what they read is
// recorded, and what they compute has keys of its own.
var trusted = map[string]bool{
	"github.com/larder-data/larder":        true,
	"github.com/larder-data/larder/lazy":   true,
	"github.com/larder-data/larder/key":    true,
	"github.com/larder-data/larder/source": true,
	"github.com/larder-data/larder/array":  true,
}

// calledByLibrary are the methods of interfaces of the standard library, by
// which it may call what it is given: those of all its interfaces, exported or
// not.
var calledByLibrary = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`
Accept Add Addr AddressSize AdjustStream AfterFunc Align Alignof AppendBinary AppendStackPointer AppendText AppendUint16 AppendUint32 AppendUint64 As
AssignableTo At Attr Available BaseContext Basic Begin BeginTx Bits BlockSize Bounds Bytes CanSeq CanSeq2 CancelRequest ChanDir CheckNamedValue Clone
Close CloseConn CloseIdleConnections CloseNotify CloseStream CloseWrite ColorIndexAt ColorModel ColumnConverter ColumnTypeDatabaseTypeName
ColumnTypeLength ColumnTypeNullable ColumnTypePrecisionScale ColumnTypeScanType Columns Commit Common Comparable Compose Connect ConnectionState
ConstantTimeSum Context Control Convert ConvertValue ConvertibleTo Cookies Copy CryptBlocks Curve DataReader DataStart Deadline Decapsulate
DecodeUnified Decompose Decrypt DeriveKeyPair Done Double Draw Driver ECDH Elem EnableFullDuplex Enabled Encapsulate Encapsulator Encode Encrypt End
Equal Err Error Eval Exact ExactString Exec ExecContext Exported F Fail Fatal Field FieldAlign FieldByIndex FieldByName FieldByNameFunc Fields Flag
Flush FlushError Format Framer Generate GenerateKey Get GetClientConn Glob Gname GoString GobDecode GobEncode Handle HasNextResultSet HashFunc Header
HeaderBlockFragment HeaderEncoder HeadersEnded Hijack ID Id Implements Import ImportFrom ImportPath In InFlight Info Ins Int63 Is IsBoolFlag IsDir
IsHTTP2NoCachedConnError IsOnCurve IsValid IsVariadic IsZero KEM Key Kind Label LastInsertId Len Less Level LocalAddr Lock Log LogValue Lstat M
MarkDead MarshalBinary MarshalJSON MarshalJSONTo MarshalText MarshalXML MarshalXMLAttr MatchString Method MethodByName Methods ModTime Mode Name
Network NewCBCDecrypter NewCBCEncrypter NewCTR NewClientConn NewGCM NewPrivateKey NewPublicKey Next NextResultSet NonceSize NumField NumIn NumInput
NumMethod NumOut Obj Offsetsof Opaque Open OpenConnector OpenStream Options Out Output Outs OverflowComplex OverflowFloat OverflowInt OverflowUint
Overhead Params Parent Peek Ping Pkg PkgPath PollFD Pop Pos Position Precision Prepare PrepareContext Public PublicKey PublicSuffix Push Put PutUint16
PutUint32 PutUint64 Quantize Query QueryContext RGBA RGBA64At Raw Read ReadAt ReadByte ReadDir ReadFile ReadFrom ReadLink ReadRequestBody
ReadRequestHeader ReadResponseBody ReadResponseHeader ReadRune Readdir Release RemoteAddr Replace Reserve Reset ResetSession Rollback RoundTrip
RoundTripErr RowsAffected RuntimeError ScalarBaseMult ScalarMult Scan Seal Seed Seek ServeHTTP Set SetBytes SetCookies SetDeadline SetIV SetRGBA64
SetReadDeadline SetWriteDeadline Sign SignMessage Signal Size Sizeof Skip SkipSpace Stack StackPointer Start Stat StreamEnded String Sub Sum Sum32
Sum64 Swap Sys SyscallConn Temporary Timeout Token Type TypeParams Uint16 Uint32 Uint64 Uname Underlying UnencryptedNetConn Unlock Unmarshal
UnmarshalBinary UnmarshalCompressed UnmarshalJSON UnmarshalJSONFrom UnmarshalText UnmarshalXML UnmarshalXMLAttr UnreadByte UnreadRune Unwrap Value
Visit WhyNotExact Width WithAttrs WithGroup Write WriteAt WriteByte WriteHeader WriteRequest WriteResponse WriteString WriteTo XORKeyStream`) {
		m[name] = true
	}
	return m
}()

// callsAnything are packages that call methods by names that are not in the
// source, or in text.
var callsAnything = map[string]bool{"reflect": true, "text/template": true, "html/template": true}

// variables are those of the standard library that stand for behaviour and that
// other packages can set.
var variables = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`
encoding/base64.StdEncoding encoding/base64.URLEncoding encoding/base64.RawStdEncoding encoding/base64.RawURLEncoding
encoding/base32.StdEncoding encoding/base32.HexEncoding
image.Black image.White image.Transparent image.Opaque image/color.Black image/color.White image/color/palette.Plan9 image/color/palette.WebSafe`) {
		m[name] = true
	}
	return m
}()
