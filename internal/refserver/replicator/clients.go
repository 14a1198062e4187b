package replicator

import (
	"net/http"
	"net/url"
	"sync"
	"time"
)

// clients are the HTTP clients of all jobs, one for each proxy: connections
// outlive a job, as CouchDB keeps them for the next.
type clients struct {
	mu  sync.Mutex
	all map[string]*http.Client
}

const (
	keepConnections = 100              // idle ones, for each peer
	keepIdle        = 90 * time.Second // connection_close_interval
	buffer          = 128 << 10
)

func (c *clients) of(e Endpoint) *http.Client {
	key := ""
	if e.Proxy != nil {
		key = e.Proxy.String()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.all[key]; client != nil {
		return client
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy:                 func(*http.Request) (*url.URL, error) { return e.Proxy, nil },
		MaxIdleConnsPerHost:   keepConnections,
		IdleConnTimeout:       keepIdle,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		ReadBufferSize:        buffer,
		WriteBufferSize:       buffer,
	}}
	if c.all == nil {
		c.all = map[string]*http.Client{}
	}
	c.all[key] = client
	return client
}

func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.all {
		client.CloseIdleConnections()
	}
}
