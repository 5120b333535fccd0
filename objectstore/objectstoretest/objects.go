package objectstoretest

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Objects is an in-memory object service with the protocol of S3. It checks conditions and
// digests, but no credentials. Its methods may be called by many goroutines.
type Objects struct {
	mu      sync.Mutex
	all     map[string]object // by /BUCKET/KEY
	uploads map[string]*upload
	begun   int
}

type object struct {
	content []byte
	tag     string
	meta    map[string]string // X-Amz-Meta-...
}

// An upload is an unfinished object of parts.
type upload struct {
	at    string
	meta  map[string]string
	parts map[int][]byte
}

// S3 starts an object service behind a [Server] that counts and fails, and directs s3:// to
// it.
func S3(t testing.TB) (*Server, *Objects) {
	o := &Objects{all: map[string]object{}, uploads: map[string]*upload{}}
	s := Front(t, o)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL_S3": s.URL, "AWS_ACCESS_KEY_ID": "name", "AWS_SECRET_ACCESS_KEY": "hunter2"} {
		t.Setenv(name, value)
	}
	return s, o
}

// Put stores an object at BUCKET/KEY, as another writer would.
func (o *Objects) Put(at string, content []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all["/"+at] = object{content, tagOf(content), nil}
}

// Delete removes an object, as another user would.
func (o *Objects) Delete(at string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, "/"+at)
}

// Get returns the content of an object, nil if there is none.
func (o *Objects) Get(at string) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all["/"+at].content
}

// Names lists the objects, as BUCKET/KEY.
func (o *Objects) Names() (names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(o.all)) {
		names = append(names, strings.TrimPrefix(at, "/"))
	}
	return names
}

// Unfinished returns how many objects of parts were begun, but neither ended nor aborted.
func (o *Objects) Unfinished() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.uploads)
}

func tagOf(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// ServeHTTP implements http.Handler.
func (o *Objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has disconnected
	}
	if code := wrong(r.Header, body); code != "" {
		refuse(w, http.StatusBadRequest, code)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && q.Get("list-type") == "2":
		o.list(w, r.URL.Path, q.Get("prefix"))
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		o.get(w, r)
	case q.Has("uploads"):
		o.begin(w, r)
	case q.Has("uploadId"):
		o.part(w, r, body)
	case r.Method == http.MethodPut:
		if !o.holds(w, r) {
			return
		}
		o.all[r.URL.Path] = object{body, tagOf(body), metaOf(r.Header)}
		w.Header().Set("Etag", tagOf(body))
	case r.Method == http.MethodDelete:
		if o.holds(w, r) {
			delete(o.all, r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// wrong returns the error code for a body that does not match its headers.
func wrong(h http.Header, body []byte) string {
	long, short := sha256.Sum256(body), md5.Sum(body)
	if declared := h.Get("X-Amz-Content-Sha256"); len(declared) == 2*len(long) && declared != hex.EncodeToString(long[:]) {
		return "XAmzContentSHA256Mismatch"
	}
	if declared := h.Get("X-Amz-Checksum-Sha256"); declared != "" && declared != base64.StdEncoding.EncodeToString(long[:]) {
		return "BadDigest"
	}
	if declared := h.Get("Content-Md5"); declared != "" && declared != base64.StdEncoding.EncodeToString(short[:]) {
		return "BadDigest"
	}
	return ""
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

// holds reports whether the condition of a request holds, and answers if it does not.
func (o *Objects) holds(w http.ResponseWriter, r *http.Request) bool {
	is, ok := o.all[r.URL.Path]
	match := r.Header.Get("If-Match")
	switch {
	case match != "" && !ok:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case match != "" && match != is.tag, ok && r.Header.Get("If-None-Match") == "*":
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		return true
	}
	return false
}

func metaOf(h http.Header) map[string]string {
	meta := map[string]string{}
	for name := range h {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			meta[name] = h.Get(name)
		}
	}
	return meta
}

func (o *Objects) get(w http.ResponseWriter, r *http.Request) {
	is, ok := o.all[r.URL.Path]
	if !ok {
		refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	for name, value := range is.meta {
		w.Header().Set(name, value)
	}
	w.Header().Set("Etag", is.tag)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", Old, bytes.NewReader(is.content))
}

// list lists the objects and subdirectories in a directory.
func (o *Objects) list(w http.ResponseWriter, bucket, prefix string) {
	type key struct {
		Key          string
		Size         int
		ETag         string
		LastModified string
	}
	var listing struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []key
	}
	bucket = "/" + strings.Trim(bucket, "/") + "/"
	for _, at := range slices.Sorted(maps.Keys(o.all)) {
		name, ok := strings.CutPrefix(at, bucket)
		if below, in := strings.CutPrefix(name, prefix); ok && in && !strings.Contains(below, "/") {
			listing.Contents = append(listing.Contents, key{name, len(o.all[at].content), o.all[at].tag, Old.Format(time.RFC3339)})
		}
	}
	_ = xml.NewEncoder(w).Encode(listing)
}

func (o *Objects) begin(w http.ResponseWriter, r *http.Request) {
	o.begun++
	id := strconv.Itoa(o.begun)
	o.uploads[id] = &upload{r.URL.Path, metaOf(r.Header), map[int][]byte{}}
	fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
}

// part executes a request on an upload.
func (o *Objects) part(w http.ResponseWriter, r *http.Request, body []byte) {
	id := r.URL.Query().Get("uploadId")
	u := o.uploads[id]
	if u == nil || u.at != r.URL.Path {
		refuse(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	switch r.Method {
	case http.MethodPut:
		n, err := strconv.Atoi(r.URL.Query().Get("partNumber"))
		if err != nil {
			refuse(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		u.parts[n] = body
		w.Header().Set("Etag", tagOf(body))
	case http.MethodDelete:
		delete(o.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		o.end(w, r, id, body)
	}
}

// fewestBytes is the least size of a part that is not the last.
const fewestBytes = 5 << 20

// end combines the parts of an upload.
func (o *Objects) end(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	var asked struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	u := o.uploads[id]
	if xml.Unmarshal(body, &asked) != nil || len(asked.Part) == 0 {
		refuse(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	if !o.holds(w, r) {
		return
	}
	var content []byte
	for i, p := range asked.Part {
		part := u.parts[p.PartNumber]
		if strings.Trim(p.ETag, `"`) != strings.Trim(tagOf(part), `"`) || i+1 < len(asked.Part) && len(part) < fewestBytes {
			refuse(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		content = append(content, part...)
	}
	tag := fmt.Sprintf(`%s-%d"`, strings.TrimSuffix(tagOf(content), `"`), len(asked.Part))
	o.all[u.at] = object{content, tag, u.meta}
	delete(o.uploads, id)
	fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>key</Key><ETag>%s</ETag></CompleteMultipartUploadResult>", strings.Trim(tag, `"`))
}
