package urlpath

import (
	"net/url"
	"os"
	"path"
	"strings"
)

// Spelled returns a URL in one of the ways in which it may be written, the same for all that may
// name one file or folder: without what lets somebody in, without parameters, escapes, default
// ports and a slash at the end. A file of a service that is named by an address of that is the
// one that its own scheme names. URLs of two files may be spelled alike, as where one has two
// slashes in place of one; those of one file are not spelled in two ways.
func Spelled(text string) string {
	u, err := url.Parse(Escaped(text))
	if err != nil {
		if u, err = url.Parse(Name(text)); err != nil { // its query is not escaped
			return Name(text)
		}
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if port == defaultPorts[scheme] {
		port = ""
	}
	file := path.Clean("/" + u.Path)
	if scheme == "http" || scheme == "https" {
		if s, bucket, key := service(host, port, file); s != "" {
			scheme, host, port, file = s, bucket, "", key
		}
	}
	if port != "" {
		host += ":" + port
	}
	return strings.TrimSuffix(scheme+"://"+host+file, "/")
}

// Within reports whether what is named by a URL is what another names, or lies in it, by how
// [Spelled] has them.
func Within(spelled, in string) bool {
	rest, ok := strings.CutPrefix(spelled, in)
	return ok && (rest == "" || rest[0] == '/')
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// service returns what names a file at an address of a service otherwise; "" if it is none that
// is known.
func service(host, port, file string) (scheme, bucket, key string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(file, "/"), "/")
	rest = "/" + rest
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if e, err := url.Parse(os.Getenv(name)); err == nil && e.Host != "" && isPort(e, port) && strings.EqualFold(e.Hostname(), host) {
			return "s3", first, rest
		}
	}
	if front, ok := strings.CutSuffix(host, ".amazonaws.com"); ok {
		// s3.REGION.amazonaws.com/BUCKET/KEY or BUCKET.s3.REGION.amazonaws.com/KEY
		labels := strings.Split(front, ".")
		for i, l := range labels {
			if l != "s3" && !strings.HasPrefix(l, "s3-") {
				continue
			}
			if i == 0 {
				return "s3", first, rest
			}
			return "s3", strings.Join(labels[:i], "."), file
		}
	}
	if front, ok := strings.CutSuffix(host, "storage.googleapis.com"); ok {
		if front == "" {
			return "gs", first, rest
		}
		return "gs", strings.TrimSuffix(front, "."), file
	}
	if strings.HasSuffix(host, ".blob.core.windows.net") {
		return "az", first, rest
	}
	return "", "", ""
}

// isPort reports whether a port, "" if it is the default one, is that of an address.
func isPort(u *url.URL, port string) bool {
	own := u.Port()
	if own == defaultPorts[u.Scheme] {
		own = ""
	}
	return own == port
}
