-- What wrk sends: the raw upload of 10 bytes.
wrk.method = "PUT"
wrk.body = "0123456789"
wrk.headers["Content-Type"] = "application/octet-stream"
