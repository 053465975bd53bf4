package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// Request headers that are not passed on, by their names or prefixes: headers that name users or hold their sessions,
// headers for this server, and headers that proxies in front of it add. httputil.ReverseProxy removes the headers that
// concern one connection alone.
var (
	headersHere = append([]string{
		"Cookie", "Forwarded", "X-Real-Ip", "X-Authenticated-User",
	}, canonical(trustedUsers, trustedConversations)...)
	prefixesHere = []string{
		"X-Hippocampus-", "X-Openwebui-", "X-Librechat-", "X-Forwarded-", "X-Auth-Request-", "Remote-",
	}
)

func canonical(lists ...[]string) (names []string) {
	for _, name := range slices.Concat(lists...) {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	return names
}

// headersUp returns the headers that the upstream gets: all except the headers above and keys of ours.
func (p *proxy) headersUp(sent http.Header) http.Header {
	up := http.Header{}
	for name, values := range sent {
		if !slices.Contains(headersHere, name) && !slices.ContainsFunc(prefixesHere, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		}) {
			up[name] = values
		}
	}
	own := sent.Get(headerKey)
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		isOurs := own == "" && !p.AnyKey || own != "" && strings.HasSuffix(up.Get(name), own)
		if isOurs {
			up.Del(name)
		}
	}
	if p.Key != "" {
		up.Set("Authorization", "Bearer "+p.Key)
	}
	if _, sentAgent := sent["User-Agent"]; !sentAgent {
		up["User-Agent"] = nil // so that no default is added
	}
	return up
}

// keepReadable limits the encodings that the client accepts to those that the proxy can decode.
func keepReadable(up http.Header) {
	accepted := up.Get("Accept-Encoding")
	if accepted == "" {
		return
	}
	up.Del("Accept-Encoding")
	if strings.Contains(accepted, "gzip") {
		up.Set("Accept-Encoding", "gzip")
	}
}
