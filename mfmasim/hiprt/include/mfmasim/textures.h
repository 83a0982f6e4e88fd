// Textures and surfaces as names only: the simulated devices have none, as data centre devices of AMD do not. The host's
// calls return hipErrorNotSupported, so a kernel never gets an object; one that reads it all the same ends with a trap at
// its own line. Names: HIP documentation, "Texture fetching" and "Surface functions".
#pragma once

#include <mfmasim/api.h>
#include <mfmasim/qualifiers.h>
#include <mfmasim/vectors.h>

#define __HIP_NO_IMAGE_SUPPORT 1

// Channels of a type: bits of each element, and its kind.
namespace mfmasim {
template <typename T_>
struct channel {
  static constexpr int count = 1;
  using type = T_;
};
template <typename T_, unsigned int N_>
struct channel<HIP_vector_type<T_, N_>> {
  static constexpr int count = N_;
  using type = T_;
};
}  // namespace mfmasim

template <typename T_>
inline hipChannelFormatDesc hipCreateChannelDesc() {
  using element = typename mfmasim::channel<T_>::type;
  constexpr int count = mfmasim::channel<T_>::count, bits = 8 * sizeof(element);
  constexpr bool is_float = element(1) / element(2) != element(0), is_signed = element(-1) < element(0);
  return hipCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
                              is_float    ? hipChannelFormatKindFloat
                              : is_signed ? hipChannelFormatKindSigned
                                          : hipChannelFormatKindUnsigned);
}
inline hipChannelFormatDesc hipCreateChannelDescHalf() {
  return hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
}
inline hipChannelFormatDesc hipCreateChannelDescHalf2() {
  return hipCreateChannelDesc(16, 16, 0, 0, hipChannelFormatKindFloat);
}

// The older references: a variable of the program, bound to memory by the host.
template <class T_, int Kind_ = hipTextureType1D, enum hipTextureReadMode Mode_ = hipReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  texture(int normalised = 0, hipTextureFilterMode filter = hipFilterModePoint,
          hipTextureAddressMode address = hipAddressModeClamp)
      : texture(normalised, filter, address, hipCreateChannelDesc<T_>()) {}
  texture(int normalised, hipTextureFilterMode filter, hipTextureAddressMode address, hipChannelFormatDesc description)
      : textureReference{} {
    normalized = normalised;
    filterMode = filter;
    readMode = Mode_;
    channelDesc = description;
    for (auto &one : addressMode) one = address;
  }
};
template <typename T_, int Kind_ = hipTextureType1D>
struct __attribute__((device_builtin_surface_type)) surface : public surfaceReference {
  surface() : surfaceReference{} {}
};

template <class T_, int Kind_, enum hipTextureReadMode Mode_>
inline hipError_t hipBindTexture(size_t *offset, const texture<T_, Kind_, Mode_> &reference, const void *pointer,
                                 size_t size = ~0u) {
  return hipBindTexture(offset, &reference, pointer, &reference.channelDesc, size);
}
template <class T_, int Kind_, enum hipTextureReadMode Mode_>
inline hipError_t hipBindTexture(size_t *offset, const texture<T_, Kind_, Mode_> &reference, const void *pointer,
                                 const hipChannelFormatDesc &description, size_t size = ~0u) {
  return hipBindTexture(offset, &reference, pointer, &description, size);
}
template <class T_, int Kind_, enum hipTextureReadMode Mode_>
inline hipError_t hipBindTexture2D(size_t *offset, const texture<T_, Kind_, Mode_> &reference, const void *pointer,
                                   size_t width, size_t height, size_t pitch) {
  return hipBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
template <class T_, int Kind_, enum hipTextureReadMode Mode_>
inline hipError_t hipBindTextureToArray(const texture<T_, Kind_, Mode_> &reference, hipArray_const_t array) {
  return hipBindTextureToArray(&reference, array, &reference.channelDesc);
}
template <class T_, int Kind_, enum hipTextureReadMode Mode_>
inline hipError_t hipBindTextureToArray(const texture<T_, Kind_, Mode_> &reference, hipArray_const_t array,
                                        const hipChannelFormatDesc &description) {
  return hipBindTextureToArray(&reference, array, &description);
}
template <class T_, int Kind_, enum hipTextureReadMode Mode_>
inline hipError_t hipUnbindTexture(const texture<T_, Kind_, Mode_> &reference) {
  return hipUnbindTexture(&reference);
}

// What a read returns: the element, or a float for each channel.
namespace mfmasim {
template <typename T_>
struct fetched {
  using type = float;
};
template <typename T_, unsigned int N_>
struct fetched<HIP_vector_type<T_, N_>> {
  using type = HIP_vector_type<float, N_>;
};
template <typename T_, hipTextureReadMode Mode_>
struct read_as {
  using type = T_;
};
template <typename T_>
struct read_as<T_, hipReadModeNormalizedFloat> {
  using type = typename fetched<T_>::type;
};
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ no_texture() {
  mfmasim_trap();
  return T_();
}
}  // namespace mfmasim

// name<T>(object, coordinates), name(T *, object, coordinates), name(reference, coordinates).
#define MFMASIM_FETCH(name, ...)                                                                      \
  template <typename T_>                                                                              \
  MFMASIM_MEMBER_DEVICE T_ name(hipTextureObject_t, __VA_ARGS__) {                                    \
    return mfmasim::no_texture<T_>();                                                                 \
  }                                                                                                   \
  template <typename T_>                                                                              \
  MFMASIM_MEMBER_DEVICE void name(T_ *, hipTextureObject_t, __VA_ARGS__) {                            \
    mfmasim_trap();                                                                                   \
  }                                                                                                   \
  template <typename T_, int Kind_, hipTextureReadMode Mode_>                                         \
  MFMASIM_MEMBER_DEVICE typename mfmasim::read_as<T_, Mode_>::type name(texture<T_, Kind_, Mode_>, __VA_ARGS__) { \
    return mfmasim::no_texture<typename mfmasim::read_as<T_, Mode_>::type>();                         \
  }
MFMASIM_FETCH(tex1Dfetch, int)
MFMASIM_FETCH(tex1D, float)
MFMASIM_FETCH(tex2D, float, float)
MFMASIM_FETCH(tex3D, float, float, float)
MFMASIM_FETCH(tex1DLayered, float, int)
MFMASIM_FETCH(tex2DLayered, float, float, int)
MFMASIM_FETCH(texCubemap, float, float, float)
MFMASIM_FETCH(texCubemapLayered, float, float, float, int)
MFMASIM_FETCH(tex1DLod, float, float)
MFMASIM_FETCH(tex2DLod, float, float, float)
MFMASIM_FETCH(tex3DLod, float, float, float, float)
MFMASIM_FETCH(tex1DLayeredLod, float, int, float)
MFMASIM_FETCH(tex2DLayeredLod, float, float, int, float)
MFMASIM_FETCH(texCubemapLod, float, float, float, float)
MFMASIM_FETCH(texCubemapLayeredLod, float, float, float, int, float)
MFMASIM_FETCH(tex1DGrad, float, float, float)
MFMASIM_FETCH(tex2DGrad, float, float, float2, float2)
MFMASIM_FETCH(tex3DGrad, float, float, float, float4, float4)
MFMASIM_FETCH(tex1DLayeredGrad, float, int, float, float)
MFMASIM_FETCH(tex2DLayeredGrad, float, float, int, float2, float2)
#undef MFMASIM_FETCH
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ tex2Dgather(hipTextureObject_t, float, float, int = 0) {
  return mfmasim::no_texture<T_>();
}

// name##read(&value, surface, coordinates), name##write(value, surface, coordinates); x counts bytes.
#define MFMASIM_SURFACE(name, ...)                                                                      \
  template <typename T_>                                                                                \
  MFMASIM_MEMBER_DEVICE void name##read(T_ *, hipSurfaceObject_t, __VA_ARGS__,                          \
                                        hipSurfaceBoundaryMode = hipBoundaryModeZero) {                 \
    mfmasim_trap();                                                                                     \
  }                                                                                                     \
  template <typename T_>                                                                                \
  MFMASIM_MEMBER_DEVICE void name##write(T_, hipSurfaceObject_t, __VA_ARGS__,                           \
                                         hipSurfaceBoundaryMode = hipBoundaryModeZero) {                \
    mfmasim_trap();                                                                                     \
  }
MFMASIM_SURFACE(surf1D, int)
MFMASIM_SURFACE(surf2D, int, int)
MFMASIM_SURFACE(surf3D, int, int, int)
MFMASIM_SURFACE(surf1DLayered, int, int)
MFMASIM_SURFACE(surf2DLayered, int, int, int)
MFMASIM_SURFACE(surfCubemap, int, int, int)
MFMASIM_SURFACE(surfCubemapLayered, int, int, int, int)
#undef MFMASIM_SURFACE
