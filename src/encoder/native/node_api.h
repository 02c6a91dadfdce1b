/* What the addon uses of Node-API (https://nodejs.org/api/n-api.html), which Node provides when it loads the addon. */
#include <stddef.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);

int napi_get_cb_info(napi_env, napi_callback_info, size_t *count, napi_value *values, napi_value *self, void **data);
int napi_get_value_double(napi_env, napi_value, double *);
int napi_get_arraybuffer_info(napi_env, napi_value, void **data, size_t *length);
int napi_create_object(napi_env, napi_value *);
int napi_create_double(napi_env, double, napi_value *);
int napi_create_function(napi_env, const char *name, size_t length, napi_callback, void *data, napi_value *);
int napi_set_named_property(napi_env, napi_value object, const char *name, napi_value);

/* A function that JavaScript calls. Its data is where the memory begins. */
typedef struct {
  const char *name;
  napi_callback call;
} function_t;
