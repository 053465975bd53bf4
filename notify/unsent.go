package notify

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// unsent is the failure of a request without an answer. Clients of the API read its
// text, so the text is one of a fixed set: the errors of net, net/http and crypto/tls
// name addresses, resolvers and the names in certificates.
type unsent struct{ cause error }

func (u unsent) Unwrap() error { return u.cause }

func (u unsent) Error() string {
	var (
		dns       *net.DNSError
		hostname  x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		unchecked *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		operation *net.OpError
		network   net.Error
	)
	switch err := u.cause; {
	case errors.Is(err, errNotPublic):
		return errNotPublic.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the name of the host does not exist"
	case errors.As(err, &dns):
		return "the name of the host cannot be resolved"
	case errors.As(err, &hostname):
		return "the host's certificate is for another name"
	case errors.As(err, &authority):
		return "the host's certificate is signed by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the host's certificate has expired or is not yet valid"
	case errors.As(err, &invalid), errors.As(err, &unchecked):
		return "the host's certificate is not valid"
	case errors.As(err, &record), errors.As(err, &operation) && operation.Op == "remote error": // an alert of TLS
		return "the host did not agree to an encrypted connection"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the host refused the connection"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "the host cannot be reached"
	case errors.As(err, &network) && network.Timeout():
		return "the connection was not made in time"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), strings.HasSuffix(err.Error(), "http: server closed idle connection"):
		return "the host closed the connection without an answer"
	}
	return "the request could not be sent or its answer not be read"
}

// detailed returns the error for the operator's log, which may name addresses.
func detailed(err error) error {
	var u unsent
	if errors.As(err, &u) {
		return u.cause
	}
	return err
}
