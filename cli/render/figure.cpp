// SPDX-License-Identifier: Apache-2.0
// librsvg reads the SVG, cairo writes the PDF.
#include "cli/render/figure.hpp"

#include <cairo-pdf.h>
#include <librsvg/rsvg.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr double kPointsAPixel = 72.0 / 96.0;

struct CloseHandle {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
};
struct CloseSurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct CloseContext {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};

cairo_status_t append(void* into, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(into)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

std::string caption_path(const std::string& figure) {
  return std::filesystem::path(figure).replace_extension(".caption.txt").string();
}

Result<void> check_folder(const std::string& path, const std::string& option) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return fail(ErrorCode::storage, format_text("{} {}: there is no folder {}", option, path, folder.string()),
                "make the folder first");
  }
  return {};
}

}  // namespace

Result<std::string> pdf_of(const std::string& svg) {
  GError* fault = nullptr;
  const std::unique_ptr<RsvgHandle, CloseHandle> handle{
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &fault)};
  double width = 0;
  double height = 0;
  if (handle == nullptr || rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) == 0) {
    const std::string why = fault == nullptr ? "no size" : fault->message;
    g_clear_error(&fault);
    return fail(ErrorCode::internal, "the drawing is no SVG: " + why);
  }
  width *= kPointsAPixel;
  height *= kPointsAPixel;
  std::string pdf;
  {
    const std::unique_ptr<cairo_surface_t, CloseSurface> surface{
        cairo_pdf_surface_create_for_stream(append, &pdf, width, height)};
    // The same drawing gives the same bytes on the same machine.
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    const std::unique_ptr<cairo_t, CloseContext> context{cairo_create(surface.get())};
    const RsvgRectangle page{0, 0, width, height};
    if (rsvg_handle_render_document(handle.get(), context.get(), &page, &fault) == 0) {
      const std::string why = fault == nullptr ? "unknown" : fault->message;
      g_clear_error(&fault);
      return fail(ErrorCode::internal, "the drawing cannot be made a PDF: " + why);
    }
    cairo_surface_finish(surface.get());
  }
  return pdf;
}

Result<void> check(const PictureFiles& files) {
  if (files.picture.empty()) {
    return check_folder(files.data, "--csv");
  }
  if (!files.picture.ends_with(".svg") && !files.picture.ends_with(".pdf")) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} {}: a picture's name ends in .svg or .pdf", files.option, files.picture),
                format_text("{} {}", files.option, std::filesystem::path(files.picture).replace_extension(".svg").string()));
  }
  const std::string data = files.data.empty() ? data_path(files.picture) : files.data;
  if (data == files.picture) {
    return fail(ErrorCode::invalid_argument, format_text("{} {}: picture and CSV would be one file", files.option, data));
  }
  LOOM_TRY(check_folder(files.picture, files.option));
  return check_folder(data, "--csv");
}

Result<std::string> write(const PictureFiles& files, const Picture& picture) {
  LOOM_TRY(check(files));
  const std::string data = files.data.empty() ? data_path(files.picture) : files.data;
  if (files.picture.empty()) {
    LOOM_TRY(write_text(data, picture.csv, "--csv"));
    return "listed in " + data;
  }
  const std::string svg = svg::document(picture.drawing, files.has_caption);
  auto bytes = files.picture.ends_with(".pdf") ? pdf_of(svg) : Result<std::string>(svg);
  if (!bytes) {
    return std::unexpected(std::move(bytes).error());
  }
  LOOM_TRY(write_text(files.picture, *bytes, files.option));
  LOOM_TRY(write_text(data, picture.csv, files.data.empty() ? files.option : "--csv"));
  std::string note = format_text("drawn to {}, its figures in {}", files.picture, data);
  if (!files.has_caption && !picture.drawing.caption.empty()) {
    std::string caption;
    for (const std::string& sentence : picture.drawing.caption) {
      caption += sentence + "\n";
    }
    LOOM_TRY(write_text(caption_path(files.picture), caption, files.option));
    note += ", its caption in " + caption_path(files.picture);
  }
  return note;
}

std::vector<NamedFile> written_files(const PictureFiles& files) {
  if (files.picture.empty()) {
    return {{"--csv", files.data}};
  }
  std::vector<NamedFile> written{
      {files.option, files.picture},
      files.data.empty() ? NamedFile{files.option + "'s CSV", data_path(files.picture)} : NamedFile{"--csv", files.data}};
  if (!files.has_caption) {
    written.push_back({files.option + "'s caption", caption_path(files.picture)});
  }
  return written;
}

std::string data_path(const std::string& figure) { return std::filesystem::path(figure).replace_extension(".csv").string(); }

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

}  // namespace loom::cli
