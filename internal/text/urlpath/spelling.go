package urlpath

import (
	"net/url"
	"os"
	"path"
	"strings"
)

// Spelled returns the normal form of a URL: without secrets, parameters, escapes,
// default ports and a slash at the end. A service address of an object becomes a URL
// with the service's own scheme. All URLs of one file have one form. URLs of two files
// may have the same form, as where one has two slashes in place of one.
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

// Within reports whether a URL in the form of [Spelled] names the same file as another,
// or one inside it.
func Within(spelled, in string) bool {
	rest, ok := strings.CutPrefix(spelled, in)
	return ok && (rest == "" || rest[0] == '/')
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// service returns the scheme, bucket and key for the address of an object at a known
// service. scheme is "" for other addresses.
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

// isPort reports whether a URL has the given port; "" is the default one.
func isPort(u *url.URL, port string) bool {
	own := u.Port()
	if own == defaultPorts[u.Scheme] {
		own = ""
	}
	return own == port
}
