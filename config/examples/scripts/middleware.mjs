// The middleware of the JavaScript SDK's guide, as an app has it.
const forceAuthMiddleware = (req, action, next) => {
  switch (action.type) {
    case 'START_AUTHENTICATE':
      req.url.searchParams.set('ForceAuth', 'true')
      break
  }
  next()
}

const addHeadersMiddleware = (req, action, next) => {
  switch (action.type) {
    case 'START_AUTHENTICATE':
      const headers = req.init.headers
      headers.append('Accept-Language', 'en-GB')
      break
  }
  next()
}

export default [forceAuthMiddleware, addHeadersMiddleware]

// the bodies of requests are not needed
export const needs = 'head'
