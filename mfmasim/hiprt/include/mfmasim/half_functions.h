// Rows: a function of the 16-bit types and its value in single precision, which is then rounded once more. Included by
// each type after it has said what MFMASIM_FUNCTION(name, expression) makes of a row; x is the argument as a float.
MFMASIM_FUNCTION(trunc, __builtin_truncf(x))
MFMASIM_FUNCTION(ceil, __builtin_ceilf(x))
MFMASIM_FUNCTION(floor, __builtin_floorf(x))
MFMASIM_FUNCTION(rint, __builtin_rintf(x))
MFMASIM_FUNCTION(sqrt, __builtin_sqrtf(x))
MFMASIM_FUNCTION(rsqrt, 1.0f / __builtin_sqrtf(x))
MFMASIM_FUNCTION(rcp, 1.0f / x)
MFMASIM_FUNCTION(exp, __builtin_expf(x))
MFMASIM_FUNCTION(exp2, __builtin_exp2f(x))
MFMASIM_FUNCTION(exp10, __builtin_exp10f(x))
MFMASIM_FUNCTION(log, __builtin_logf(x))
MFMASIM_FUNCTION(log2, __builtin_log2f(x))
MFMASIM_FUNCTION(log10, __builtin_log10f(x))
MFMASIM_FUNCTION(sin, sinf(x))
MFMASIM_FUNCTION(cos, cosf(x))
MFMASIM_FUNCTION(tanh, tanhf(x))
#undef MFMASIM_FUNCTION
