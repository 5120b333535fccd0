package s3

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// clients caches clients by the settings of the environment.
type clients struct {
	mu   sync.Mutex
	made map[settings]*minio.Core
}

// settings are those of the environment.
type settings struct{ endpoint, region, user, secret, token, profile string }

func read() settings {
	return settings{
		endpoint: cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
		region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		user:     os.Getenv("AWS_ACCESS_KEY_ID"), secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), token: os.Getenv("AWS_SESSION_TOKEN"),
		profile: os.Getenv("AWS_PROFILE"),
	}
}

// get returns the client for the current settings of the environment.
func (c *clients) get() (*minio.Core, error) {
	s := read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.made[s]; m != nil {
		return m, nil
	}
	m, err := s.client()
	if err != nil {
		return nil, err
	}
	if c.made == nil {
		c.made = map[settings]*minio.Core{}
	}
	c.made[s] = m
	return m, nil
}

// client makes a client that tries once, because the caller retries.
func (s settings) client() (*minio.Core, error) {
	host, secure := "s3.amazonaws.com", true
	if s.endpoint != "" {
		u, err := url.Parse(s.endpoint)
		if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is not an address of a service, such as https://minio.example:9000, without a user and a path")
		}
		host, secure = u.Host, u.Scheme == "https"
		s.region = cmp.Or(s.region, "us-east-1") // other services do not need it
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConnsPerHost = 64
	return minio.NewCore(host, &minio.Options{
		Creds: s.credentials(), Secure: secure, Region: s.region, Transport: conditional{transport}, MaxRetries: 1,
	})
}

// credentials are found in the order of AWS's tools. The role of the machine is requested
// only if it may be a machine of AWS: elsewhere the request takes seconds to fail.
func (s settings) credentials() *credentials.Credentials {
	all := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if s.endpoint == "" && !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		all = append(all, &credentials.IAM{Client: &http.Client{Timeout: 3 * time.Second}})
	}
	return credentials.NewChainCredentials(all)
}
